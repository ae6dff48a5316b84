import { describe, expect, test } from 'vitest';
import { compileCondition } from '../../../core/condition.ts';
import { factsOf } from '../../../core/evaluation.ts';
import type { JsonObject, JsonValue } from '../../../core/json.ts';
import { cpuMilliseconds } from '../cpu-time.ts';

const long = 'a'.repeat(256 * 1024);
const many = Array.from({ length: 100_000 }, () => 0);
const nested = (levels: number): JsonValue => (levels === 0 ? 1 : [nested(levels - 1)]);
const lines = Array.from({ length: 2_000 }, (_, index) => ({ sku: `sku-${index}`, price: index, tags: ['a', 'b'] }));

const factsFor = (actionArgs: JsonObject) =>
  factsOf({
    actionName: 'pay',
    actionArgs,
    runId: 'run-1',
    missionId: 'default',
    phase: 'before',
    requestedBy: 'support-bot',
    now: '2026-11-30T14:00:00.000Z',
    attempt: 1,
  });

const most = 1_000;

/** The truth, and that it was had within the bounds of time and memory. */
function bounded(when: string, args: JsonObject) {
  const condition = compileCondition(when);
  const facts = factsFor(args);
  const before = process.memoryUsage();
  let truth: ReturnType<typeof condition.evaluate> | undefined;
  const spent = cpuMilliseconds(() => {
    truth = condition.evaluate(facts);
  });
  const after = process.memoryUsage();
  expect(spent).toBeLessThan(most);
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(300 * 2 ** 20);
  return truth;
}

describe('hostile arguments are looked at within bounds, or not at all', () => {
  const tooLarge = { unreadable: expect.stringMatching(/too large|at most 1048576/) };
  test.each<[string, JsonObject, unknown]>([
    ['args.t.matches("^(a+)+$")', { t: long }, { value: true }],
    ['args.t.matches("(a?){1000}b")', { t: long }, { value: false }],
    ['args.t.matches("(.*)(.*)(.*)(.*)(.*)b$")', { t: long }, { value: false }],
    ['args.items.all(i, args.t.matches("^[a-z]+$"))', { t: long, items: many.slice(0, 100) }, tooLarge],
    ['args.items.all(i, !args.t.contains("b"))', { t: long, items: many }, tooLarge],
    ['args.items.all(i, args.items.all(j, i == j))', { items: many.slice(0, 5_000) }, tooLarge],
    ['args.items.all(i, args.items.all(j, args.items.all(k, true)))', { items: many.slice(0, 500) }, tooLarge],
    ['args.items.all(i, !(i in args.items.filter(j, j > 0.0)))', { items: many.slice(0, 5_000) }, tooLarge],
    ['args.items.map(i, args.items).all(l, l == args.items)', { items: many.slice(0, 5_000) }, tooLarge],
    ['args.items == args.others', { items: many, others: [...many] }, { value: true }],
    ['size(args.t.replace("a", args.t)) > 1', { t: long }, tooLarge],
    ['size(args.t.replace("", args.t)) > 1', { t: long }, tooLarge],
    ['args.t.replace("a", "bb").contains("bbb")', { t: long }, { value: true }],
    ['size(args.t.split("")) > 1', { t: long }, { value: true }],
    ['args.items.map(i, args.t).join("") == ""', { t: long, items: many }, tooLarge],
    ['"%s %s %s".format([args.items, args.items, args.items]) == ""', { items: many }, { value: false }],
    [`[args.t]${'.map(x, x + x)'.repeat(40)}.exists(x, x.contains("b"))`, { t: long }, tooLarge],
    [`[args.items]${'.map(x, x + x)'.repeat(40)}.exists(x, x.size() > 1)`, { items: many }, tooLarge],
    [`[args.items]${'.map(x, [x, x])'.repeat(40)} == []`, { items: many }, tooLarge],
    [
      `[args.items]${'.map(x, [x, x])'.repeat(30)} == [args.items]${'.map(x, [x, x])'.repeat(30)}`,
      { items: [] },
      tooLarge,
    ],
    ['args.deep == args.deep2', { deep: nested(31), deep2: nested(31) }, { value: true }],
    [
      'args.items.map(i, i).map(i, i).filter(i, i == 0.0).size() == 20000',
      { items: many.slice(0, 20_000) },
      { value: true },
    ],
  ])('%s', (when, args, truth) => {
    expect(bounded(when, args)).toEqual(truth);
  });

  test('what is deeper than any body can be is not read, and does not end the process', () => {
    const condition = compileCondition('args.a == args.b');
    expect(condition.evaluate(factsFor({ a: nested(500), b: nested(500) }))).toEqual({ value: true });
  });

  test('all rules of a request share its work: what is spent stays spent', () => {
    const condition = compileCondition('args.items.all(i, args.items.all(j, i == j))');
    const facts = factsFor({ items: many.slice(0, 5_000) });
    const spent = cpuMilliseconds(() => {
      for (let rule = 0; rule < 1_000; rule++)
        expect(condition.evaluate(facts)).toEqual({ unreadable: expect.any(String) });
    });
    expect(spent).toBeLessThan(2 * most);
  });

  test('too much work is no yes, also where another part says yes', () => {
    const loop = 'args.items.all(i, args.items.all(j, i == j))';
    expect(bounded(`${loop} || true`, { items: many.slice(0, 5_000) })).toEqual({ unreadable: expect.any(String) });
    expect(bounded(`true || ${loop}`, { items: many.slice(0, 5_000) })).toEqual({ value: true });
  });
});

describe('requests as they come are not too large', () => {
  test.each([
    'args.lines.all(line, line.price >= 0.0)',
    'args.lines.filter(line, line.price > 1000.0).size() < 1000',
    'args.lines.map(line, line.price).exists(price, price > 1998.0)',
    'args.lines.all(line, line.tags.exists(tag, tag == "b"))',
    'args.lines.all(line, line.sku.matches("^sku-[0-9]+$"))',
    'args.lines.all(line, line.sku in args.known)',
  ])('two thousand lines: %s', (when) => {
    expect(
      bounded(when, { lines, known: when.includes('known') ? lines.slice(0, 1).map(({ sku }) => sku) : [] }),
    ).toEqual({
      value: !when.includes('known'),
    });
  });
});
