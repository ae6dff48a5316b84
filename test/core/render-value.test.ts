import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../core/json.ts';
import { printText, renderArguments, renderLine, renderText, renderValue } from '../../core/render-value.ts';
import { cpuMilliseconds } from './cpu-time.ts';
import { readBack } from './read-back.ts';
import { seededRandom } from './seeded-random.ts';

const print = (text: string) => printText(renderText(text), ['‹', '›']);

describe('case 43: inert and visible', () => {
  test.each([
    ['</p><a href=//evil>Approve</a>', '</p><a href=//evil>Approve</a>'],
    ['[Approve](//evil)', '[Approve](//evil)'],
    ['abc\u202edef', 'abc‹U+202E›def'],
    ['cus_81Q\u200b7f', 'cus_81Q‹U+200B›7f'],
    ['x\u{e0100}y', 'x‹U+E0100›y'],
    [`a${' '.repeat(5000)}b`, 'a‹SPACE ×5000›b'],
    ['\u001b[2Jgone', '‹U+001B›[2Jgone'],
    ['a\tb\r\nc', 'a‹TAB›b‹CR›\nc'],
    [' a  b ', '‹SPACE›a  b‹SPACE›'],
    ['a   b', 'a‹SPACE ×3›b'],
    ['one\ntwo\n\nthree\n', 'one\ntwo\n\nthree‹LF›'],
    [`top${'\n'.repeat(5000)}bottom`, 'top\n‹LF ×4999›bottom'],
    ['a \n \n b', 'a‹SPACE›\n‹SPACE›\n b'],
    ['e\u0301\u0301\u0301\u0301', 'e\u0301\u0301‹U+0301›‹U+0301›'],
    ['\u0301a\n\u0302b\u200b\u0303', '‹U+0301›a\n‹U+0302›b‹U+200B›‹U+0303›'],
    ['lone \ud83d half', 'lone ‹U+D83D› half'],
    ['naïve 🙂 漢字', 'naïve 🙂 漢字'],
  ])('%j', (text, printed) => {
    expect(print(text)).toBe(printed);
    expect(readBack(renderText(text))).toBe(text);
  });

  test('on one line', () => {
    expect(printText(renderLine('a\nb\n\n\nc'), ['‹', '›'])).toBe('a‹LF›b‹LF›‹LF ×2›c');
  });
});

describe('text that pretends to hold a mark', { timeout: 60_000 }, () => {
  test('is told from a real one', () => {
    expect(print('a‹U+200B›b')).toBe('a‹U+2039›U+200B›b');
    expect(printText(renderText('[TAB] [SPACE ×9] [U+1F600] [x]'), ['[', ']'])).toBe(
      '[U+005B]TAB] [U+005B]SPACE ×9] [U+005B]U+1F600] [x]',
    );
  });

  test('seeded: different texts never print alike', () => {
    const random = seededRandom(43);
    const printed = new Map<string, string>();
    for (let round = 0; round < 20_000; round += 1) {
      const text = Array.from({ length: random.below(6) }, () =>
        random.pick([
          'a',
          ' ',
          '\n',
          '\t',
          '\u200b',
          '[',
          ']',
          '[TAB]',
          '[U+200B]',
          '[U+005B]',
          '\u0301',
          'LF',
          '[SPACE ×3]',
        ]),
      ).join('');
      const parts = renderText(text);
      expect(readBack(parts)).toBe(text);
      const shown = printText(parts, ['[', ']']);
      expect(printed.get(shown) ?? text).toBe(text);
      printed.set(shown, text);
    }
    expect(printed.size).toBeGreaterThan(1_000);
  });
});

describe('values', () => {
  const value = (given: Parameters<typeof renderValue>[0]) => printText(renderValue(given), ['‹', '›']);

  test('case 16: each kind of nothing is told apart', () => {
    expect(['', 0, false, null, [], {}, 'null', '0', '""'].map(value)).toEqual([
      '""',
      '0',
      'false',
      'null',
      '[]',
      '{}',
      '"null"',
      '"0"',
      '"\\"\\""',
    ]);
  });

  test('case 18: numbers in the canonical form', () => {
    expect([1.0, 1e3, -0, 0.1, 1e21, '240.00', 'v1.2', '-'].map(value)).toEqual([
      '1',
      '1000',
      '0',
      '0.1',
      '1e+21',
      '"240.00"',
      'v1.2',
      '-',
    ]);
  });

  test('arguments by pointer, in canonical order, hostile names shown', () => {
    const args: JsonObject = {
      b: [{ c: 1 }, 'x'],
      a: { 'k/~\u200b\n': true, empty: {} },
      '\u{1f600}': null,
      '\ufb33': '',
    };
    expect(
      renderArguments(args).map(({ pointer, label, parts }) => [
        pointer,
        printText(label, ['‹', '›']),
        printText(parts, ['‹', '›']),
      ]),
    ).toEqual([
      ['/a/empty', '/a/empty', '{}'],
      ['/a/k~1~0\u200b\n', '/a/k~1~0‹U+200B›‹LF›', 'true'],
      ['/b/0/c', '/b/0/c', '1'],
      ['/b/1', '/b/1', 'x'],
      ['/\u{1f600}', '/\u{1f600}', 'null'],
      ['/\ufb33', '/\ufb33', '""'],
    ]);
    expect(renderArguments({})).toEqual([]);
  });

  test('256 KiB in well under a second', () => {
    const spent = cpuMilliseconds(() =>
      renderArguments({ text: 'é\u200b'.repeat(65_536), plain: 'x'.repeat(262_144) }),
    );
    expect(spent).toBeLessThan(1_000);
  });
});
