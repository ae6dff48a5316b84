import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import {
  maskArguments,
  maskSecrets,
  parsePointer,
  pointerTo,
  replaceAt,
  restoreSecrets,
  valueAt,
} from '../../core/json-pointer.ts';

describe('pointers', () => {
  const rfc6901 = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'c%d': 2, 'm~n': 8, ' ': 7 };

  test.each([
    ['', rfc6901],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/m~0n', 8],
    ['/ ', 7],
  ])('RFC 6901: %j', (pointer, value) => {
    expect(valueAt(rfc6901, pointer)).toEqual(value);
    expect(pointerTo(parsePointer(pointer))).toBe(pointer);
  });

  test.each(['/foo/2', '/foo/-', '/foo/00', '/foo/length', '/foo/0/0', '/constructor', '/__proto__', '/toString/name'])(
    '%s leads to nothing, and to no prototype',
    (pointer) => {
      expect(valueAt(rfc6901, pointer)).toBeUndefined();
      expect(replaceAt(rfc6901, pointer, 'x')).toEqual(rfc6901);
    },
  );

  test.each(['foo', '#/foo', '/a~', '/a~2b'])('%s is no pointer', (pointer) => {
    expect(() => parsePointer(pointer)).toThrow('is no JSON Pointer');
  });

  test('replacing copies and touches nothing else', () => {
    const value = { list: [{ a: 1 }, { a: 2 }], other: null };
    expect(replaceAt(value, '/list/1/a', 'x')).toEqual({ list: [{ a: 1 }, { a: 'x' }], other: null });
    expect(value.list[1]).toEqual({ a: 2 });
    expect(replaceAt(value, '', 5)).toBe(5);
  });

  test('an own member named __proto__ stays a member', () => {
    const value = JSON.parse('{"__proto__": {"a": 1}}') as JsonObject;
    const replaced = replaceAt(value, '/__proto__/a', 2) as JsonObject;
    expect(JSON.stringify(replaced)).toBe('{"__proto__":{"a":2}}');
    expect(Object.getPrototypeOf(replaced)).toBe(Object.prototype);
  });
});

describe('secrets', () => {
  const request = {
    requestId: 'r',
    actionArgs: { amount: 5, card: { number: '4111111111111111', expiry: { month: 1 } }, keys: ['k🙂'] },
  };

  test('each secret is replaced by its length', () => {
    const masked = maskSecrets(request, [
      '/actionArgs/card/number',
      '/actionArgs/card/expiry',
      '/actionArgs/keys/0',
      '/contextSummary',
    ]);
    expect(masked).toEqual({
      requestId: 'r',
      actionArgs: {
        amount: 5,
        card: { number: '[hidden by policy, 16 characters]', expiry: '[hidden by policy, 11 characters]' },
        keys: ['[hidden by policy, 2 characters]'],
      },
    });
    expect(request.actionArgs.card.number).toBe('4111111111111111');
  });

  test.each([[['/actionArgs/card', '/actionArgs/card/number']], [['/actionArgs/card/number', '/actionArgs/card']]])(
    'a secret within a secret is hidden with it, in whatever order: %j',
    (paths) => {
      expect(maskSecrets(request, paths).actionArgs.card).toBe('[hidden by policy, 50 characters]');
    },
  );

  test.each<[string, JsonValue, JsonValue]>([
    ['/actionArgs/card/number', { card: '4243' }, { card: '[hidden by policy, 4 characters]' }],
    ['/actionArgs/card/number', { card: ['4243'] }, { card: '[hidden by policy, 8 characters]' }],
    ['/actionArgs/card/number', { card: null }, { card: '[hidden by policy, 4 characters]' }],
    ['/actionArgs/card/number', { card: { nr: '4243' } }, { card: { nr: '4243' } }],
    ['/actionArgs/cards/0', { cards: { first: '4243' } }, { cards: '[hidden by policy, 16 characters]' }],
    ['/actionArgs/cards/0/nr', { cards: [['4243']] }, { cards: ['[hidden by policy, 8 characters]'] }],
    ['/actionArgs/cards/1', { cards: ['4243'] }, { cards: ['4243'] }],
    ['/actionArgs/0', { card: '4243' }, { card: '4243' }],
  ])('%s of %j shows %j', (path, actionArgs, shown) => {
    const args = actionArgs as JsonObject;
    expect(maskSecrets({ actionArgs: args }, [path, `${path}/deeper`]).actionArgs).toEqual(shown);
    expect(restoreSecrets(shown as JsonObject, args, [path, `${path}/deeper`])).toEqual(args);
  });

  test('an edit that leaves the mask gets the original back; one that changes the value keeps the change', () => {
    const paths = ['/actionArgs/card/number', '/actionArgs/keys/0'];
    const seen = maskArguments(request.actionArgs, paths);
    const edited = { ...seen, amount: 6, keys: ['new'] };
    expect(restoreSecrets(edited, request.actionArgs, paths)).toEqual({
      ...request.actionArgs,
      amount: 6,
      keys: ['new'],
    });
  });

  test('a mask anywhere else, or of another length, is only text', () => {
    const paths = ['/actionArgs/card/number'];
    const edited = { note: '[hidden by policy, 16 characters]', card: { number: '[hidden by policy, 3 characters]' } };
    expect(restoreSecrets(edited, request.actionArgs, paths)).toEqual(edited);
  });

  test('masking and restoring returns what was there, also with nested secrets', () => {
    const paths = ['/actionArgs/card/number', '/actionArgs/card'];
    expect(restoreSecrets(maskArguments(request.actionArgs, paths), request.actionArgs, paths)).toEqual(
      request.actionArgs,
    );
  });
});
