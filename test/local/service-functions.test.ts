import { expect, onTestFinished, test } from 'vitest';
import type { FunctionDefinition } from '../../local/functions.ts';
import { resultOf, smallFunction } from './service-bundles.ts';

function play(source: string, changes?: Partial<FunctionDefinition>, clock?: SharedArrayBuffer) {
  const played = smallFunction(source, changes, clock);
  onTestFinished(() => played.close());
  return played;
}

const say = (expression: string) => `exports.handler = async (event, context) => (${expression});`;

test('a function has the template’s environment, its folder, and nothing of ours', async () => {
  process.env.OURS = 'secret';
  const played = play(
    say('{ colour: process.env.COLOUR, root: process.env.LAMBDA_TASK_ROOT, ours: process.env.OURS }'),
  );
  expect(await resultOf(played)).toEqual({ colour: 'green', root: played.folder });
});

test('the clock moves for Date, and for nothing else', async () => {
  const clock = new SharedArrayBuffer(8);
  const played = play(
    `exports.handler = async (event, context) => {
      const before = process.hrtime.bigint();
      await new Promise((resolve) => setTimeout(resolve, 20));
      return {
        now: Date.now(), made: new Date().getTime(), given: new Date(5).getTime(), text: Date.parse(Date()),
        isDate: new Date() instanceof Date, waited: Number(process.hrtime.bigint() - before) / 1e6,
        left: context.getRemainingTimeInMillis(),
      };
    };`,
    { timeoutSeconds: 60 },
    clock,
  );
  new Float64Array(clock)[0] = 7_200_000;
  const result = (await resultOf(played)) as Record<string, number>;
  const later = Date.now() + 7_200_000;
  for (const seen of [result.now, result.made, result.text]) expect(Math.abs(Number(seen) - later)).toBeLessThan(5_000);
  expect(result).toMatchObject({ given: 5, isDate: true });
  expect(result.waited).toBeLessThan(30_000);
  expect(result.left).toBeGreaterThan(0);
  expect(result.left).toBeLessThanOrEqual(60_000);
  new Float64Array(clock)[0] = 0;
  expect(Math.abs(((await resultOf(played)) as { now: number }).now - Date.now())).toBeLessThan(5_000);
});

test('one worker takes one event at a time; the next event gets another worker', async () => {
  const played = play(`let running = 0; const { threadId } = require('node:worker_threads');
    exports.handler = async () => {
      running += 1; const seen = running;
      await new Promise((resolve) => setTimeout(resolve, 300));
      running -= 1; return { seen, threadId };
    };`);
  const results = (await Promise.all([resultOf(played), resultOf(played)])) as { seen: number; threadId: number }[];
  expect(results.map(({ seen }) => seen)).toEqual([1, 1]);
  expect(new Set(results.map(({ threadId }) => threadId)).size).toBe(2);
});

test('reserved concurrency throttles; without it events wait', async () => {
  const slow = `exports.handler = () => new Promise((resolve) => setTimeout(() => resolve(1), 200));`;
  const reserved = play(slow, { reservedConcurrency: 1 });
  const [first, second] = await Promise.all([reserved.invoke({}), reserved.invoke({})]);
  expect([first.status, second.status]).toEqual(['returned', 'throttled']);
  const open = play(slow);
  const all = await Promise.all(Array.from({ length: 20 }, () => open.invoke({})));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['returned']));
});

test('an error, a crash and a function out of time are told apart, and the next event is served', async () => {
  const played = play(
    `exports.handler = async ({ how }) => {
      if (how === 'throw') throw new RangeError('too far');
      if (how === 'exit') process.exit(3);
      if (how === 'stray') setImmediate(() => { throw new Error('stray'); });
      if (how) return new Promise(() => { setInterval(() => {}, 1000); });
      return 'fine';
    };`,
    { timeoutSeconds: 1 },
  );
  const outcome = async (how: string) => {
    const invocation = await played.invoke({ how });
    return invocation.status === 'failed'
      ? `${invocation.reason} ${invocation.failure.errorMessage}`
      : invocation.status;
  };
  expect(await outcome('throw')).toBe('error too far');
  expect(await outcome('exit')).toMatch(/^crash .*exited with code 3$/);
  expect(await outcome('stray')).toBe('crash stray');
  expect(await outcome('hang')).toMatch(/^timeout .*timed out after 1\.00 seconds$/);
  expect(await resultOf(played)).toBe('fine');
});

test('an event over 6 MB is not taken', async () => {
  const played = play(say('event.length'));
  expect(await resultOf(played, 'x'.repeat(6_000_000))).toBe(6_000_000);
  expect(await played.invoke('x'.repeat(6_300_000))).toEqual({ status: 'too-large' });
});
