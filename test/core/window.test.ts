import { expect, test } from 'vitest';
import type { Counter } from '../../core/counter.ts';
import { counterAfter, nothingCounted } from '../../core/counter.ts';
import { addSeconds } from '../../core/instant.ts';
import { readWindows, reserve, type Window, type WindowReading } from '../../core/window.ts';

const day = 24 * 3600;
const window = (more: Partial<Window> = {}): Window => ({
  id: 'w',
  by: 'agent',
  value: '/amount',
  overSeconds: day,
  ...more,
});
const who = { missionId: 'default', runId: 'run', requestedBy: 'bot' };
const start = '2026-11-30T14:00:00.000Z';
const asking = (amount: unknown, seconds: number) => ({
  who,
  action: { actionName: 'pay', actionArgs: { amount: amount as number }, phase: 'before' as const },
  now: addSeconds(start, seconds),
});

/** A store of counters that holds what was reserved. */
function kept(windows: Window[]) {
  const counters = new Map<string, Counter>();
  return {
    counters,
    take(amount: unknown, seconds: number, as = windows) {
      for (const move of reserve(as, counters, asking(amount, seconds)).moves) {
        const after = counterAfter(counters.get(move.counter) ?? nothingCounted, move);
        if (!after) throw new Error('not as it was read');
        counters.set(move.counter, after);
      }
    },
    read: (seconds: number, as = windows): WindowReading | undefined =>
      readWindows(as, counters, asking(1, seconds)).get('w'),
  };
}

test('an amount counts for all of the window, and at most a 60th of it longer, whenever it came', () => {
  for (const offset of [0, 1, 719, 1439, 1440, 1441, 5000]) {
    const windows = kept([window()]);
    windows.take(90, offset);
    expect(windows.read(offset)).toEqual({ sum: 90, count: 1 });
    expect(windows.read(offset + day - 1), 'never too little').toEqual({ sum: 90, count: 1 });
    expect(windows.read(offset + day + day / 60), 'nor for ever').toEqual({ sum: 0, count: 0 });
  }
});

test('a counter stays small, however long it is used', () => {
  const windows = kept([window()]);
  for (let n = 0; n < 2_000; n++) windows.take(1, n * 300);
  const [counter] = windows.counters.values();
  expect(counter?.buckets.length).toBeLessThanOrEqual(63);
  expect(windows.read(2_000 * 300)).toEqual({ sum: expect.any(Number), count: expect.any(Number) });
});

test('two versions of a window over one counter: the shorter forgets nothing that the longer looks at', () => {
  const [short, long] = [[window({ overSeconds: 3600 })], [window({ overSeconds: day })]];
  const windows = kept(long);
  windows.take(90, 0, long);
  for (let n = 0; n < 30; n++) windows.take(1, 8000 + n * 60, short);
  expect(windows.read(10_000, long)).toEqual({ sum: 120, count: 31 });
  expect(windows.read(10_000, short)?.sum).toBe(30);
  for (let n = 0; n < 4_000; n++) windows.take(1, 10_000 + n * 60, short);
  expect([...windows.counters.values()][0]?.buckets.length).toBeLessThanOrEqual(660);
});

test('a value that cannot be summed cannot be read, and is counted all the same', () => {
  const windows = kept([window()]);
  for (const amount of ['5', null, -5, 1e15, undefined, [], {}]) {
    expect(readWindows([window()], windows.counters, asking(amount, 0)).has('w')).toBe(false);
    windows.take(amount, 0);
  }
  expect(windows.read(0)).toEqual({ sum: 0, count: 7 });
});

test('what has already run is not counted again', () => {
  const { action, ...rest } = asking(90, 0);
  expect(reserve([window()], new Map(), { ...rest, action: { ...action, phase: 'after' } })).toEqual({
    reserved: [],
    moves: [],
  });
});

test('without the request itself', () => {
  const windows = kept([window()]);
  windows.take(90, 0);
  windows.take(10, 0);
  const { reserved } = reserve([window()], new Map(), asking(90, 0));
  expect(readWindows([window()], windows.counters, { ...asking(90, 10), own: reserved }).get('w')).toEqual({
    sum: 10,
    count: 1,
  });
});

test('a bucket that was forgotten before its amount was given back takes nothing from the others', () => {
  const windows = kept([window()]);
  windows.take(50, 0);
  const [key = '', counter = nothingCounted] = [...windows.counters][0] ?? [];
  const late = {
    kind: 'counter' as const,
    counter: key,
    does: 'take' as const,
    bucket: 2_000_000_000,
    amount: '90',
    count: 1 as const,
  };
  windows.counters.set(key, counterAfter(counter, late) ?? counter);
  expect(windows.read(0)).toEqual({ sum: 50, count: 1 });
});
