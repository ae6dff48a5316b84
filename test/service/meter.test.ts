import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Counts, MeterSnapshot } from '../../local/meter.ts';
import { email, Front, newRun, refund } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start({ deployment: { sweepMinutes: 60 } });
  await front.stream(false);
});
afterAll(() => front.stop());
beforeEach(() => front.zeroMeter());

/** How often a function called what, and nothing that failed. */
async function callsOf(name: string): Promise<Record<string, number>> {
  const { functions }: MeterSnapshot = await front.meter();
  const operations = Object.entries(functions[name] ?? {}) as [string, Counts][];
  for (const [operation, { failed, refused }] of operations)
    expect([operation, failed, refused]).toEqual([operation, 0, 0]);
  return Object.fromEntries(operations.map(([operation, { calls }]) => [operation, calls]));
}

const atMost = (calls: Record<string, number>, allowed: Record<string, number>) => {
  for (const [operation, count] of Object.entries(calls))
    expect(count, operation).toBeLessThanOrEqual(allowed[operation] ?? 0);
};

/** The one read answers both: the state under the key, and the newest version of the mission. */
const create = { Query: 1, TransactWriteItems: 1, BatchGetItem: 1 };
const decision = { Query: 2, TransactWriteItems: 1 };
const poll = { Query: 2 };

test('one create: at most one query, one transaction and one read, with a key and without', async () => {
  const runId = newRun();
  expect((await front.ask(refund(80, { runId }))).status).toBe(201);
  expect(await callsOf('requests')).toEqual(create);
  await front.zeroMeter();
  expect((await front.ask(refund(90, { runId }), { key: runId })).status).toBe(201);
  atMost(await callsOf('requests'), create);
});

test('one decision: at most two reads and one transaction, whether it decides or only votes', async () => {
  const { body: request } = await front.ask(refund(80, { runId: newRun() }));
  for (const person of ['alice', 'bob']) {
    await front.zeroMeter();
    expect((await front.approve(request, person)).status).toBe(200);
    atMost(await callsOf('decisions'), decision);
  }
});

test('one poll: at most two reads; one that waits reads the small state while nothing happens', async () => {
  const { body: request } = await front.ask(email({ runId: newRun() }));
  await front.get(request.requestId);
  expect(await callsOf('wait')).toEqual({ Query: 1 });
  await front.zeroMeter();
  await front.get(request.requestId, 'support-bot', '?wait=2');
  const { Query, GetItem, ...others } = await callsOf('wait');
  expect(others).toEqual({});
  expect(Query).toBe(2);
  expect(GetItem).toBeLessThanOrEqual(4);
});

test('the meter would show one read too many', async () => {
  const { body: request } = await front.ask(email({ runId: newRun() }));
  await front.zeroMeter();
  await front.get(request.requestId);
  await front.get(request.requestId);
  await front.get(request.requestId);
  const calls = await callsOf('wait');
  expect(() => atMost(calls, poll)).toThrow('Query');
});
