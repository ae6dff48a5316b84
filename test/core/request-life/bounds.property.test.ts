import { describe, expect, test } from 'vitest';
import { MemoryStore } from '../../../adapters/memory/store.ts';
import { CountersignError } from '../../../core/errors.ts';
import { sumOf } from '../../../core/exact-decimal.ts';
import { toMilliseconds } from '../../../core/instant.ts';
import type { RequestState } from '../../../core/request.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { delegating } from './altered-store.ts';
import { bot, Desk, otherBot, people } from './desk.ts';

const { alice, bob } = people;
const hour = 3600;

const policy = `
mission: default
defaults: { approverRole: support_manager, timeoutSeconds: 600, validForSeconds: 600 }
maxAttempts: 5
maxPending: { run: 8, agent: 9 }
windows:
  - { id: paid, by: agent, value: /amount, over: 24h, actions: [pay, tip] }
  - { id: forSubject, by: subject, value: /amount, over: 1h }
  - { id: mails, by: run, over: 30m, actions: [mail] }
actions:
  pay:
    policy: approval_gate
    reason: Money leaves
    rules:
      - { id: small, when: 'args.amount <= 20.0 && window.paid.sum + args.amount <= 100.0', then: allow }
      - { id: enough, when: 'window.paid.sum + args.amount > 300.0', then: stop }
  tip: { policy: autonomous, reason: Small }
  mail: { policy: dual_approval, reason: Customers read it }
`;

const bounded = (seed = 1) => {
  const store = new MemoryStore();
  return { store, desk: new Desk({ seed, store, policy }) };
};

const runs = ['run-1', 'run-2', 'run-3'];

async function doSomething(desk: Desk, random: SeededRandom, ids: Set<string>): Promise<void> {
  const id = random.pick([...ids, 'none']);
  const person = random.pick([alice, bob]);
  const amount = () => random.pick([0.1, 5, 19.99, 33.33, 90, -4]);
  const ask = async () => {
    const runId = random.pick(runs);
    const onBehalfOf = random.pick([undefined, 'Ada', 'ada ', 'bea']);
    const more = { runId: `${runId}`, actionArgs: { amount: amount() }, ...(onBehalfOf && { onBehalfOf }) };
    const { state } = await desk.ask(random.pick(['pay', 'pay', 'tip', 'mail']), more);
    ids.add(state.requestId);
  };
  const steps = [
    ask,
    ask,
    ask,
    () => desk.vote(id, person, 'approve'),
    () => desk.vote(id, person, 'reject'),
    () => desk.vote(id, person, 'respond', { response: 1 }),
    () => desk.vote(id, person, 'edit', { editedArgs: { amount: amount() } }),
    () => desk.vote(id, person, 'edit', { editedArgs: { amount: amount() } }),
    () => desk.cancel(id),
    () => desk.revoke(id, person),
    () => desk.claim(id, { claimId: 'c' }),
    () => desk.sweep(),
    async () => desk.world.pass(random.pick([1, 60, 650, hour])),
  ];
  try {
    await random.pick<() => Promise<unknown>>(steps)();
  } catch (error) {
    if (!(error instanceof CountersignError) && !(error instanceof Error && error.message === 'no request none'))
      throw error;
  }
}

/** Every counter must hold exactly what the requests hold of it, told again from the requests alone. */
function recount(store: MemoryStore, states: RequestState[], nowSeconds: number): void {
  const held = states.flatMap(({ reserved = [], requestId, status }) =>
    reserved.map((one) => ({ ...one, requestId, status })),
  );
  for (const { kind, status } of held)
    expect(kind === 'window' ? ['PENDING', 'APPROVED'] : ['PENDING']).toContain(status);
  for (const [key, counter] of store.records.counters) {
    const own = held.filter((one) => one.counter === key);
    const since = nowSeconds - counter.keepSeconds;
    for (const { end, sum, count } of counter.buckets.filter((bucket) => bucket.end > since)) {
      const inBucket = own.flatMap((one) => (one.kind === 'window' && one.bucket === end ? [one.amount] : []));
      expect({ key, end, sum, count }).toEqual({ key, end, sum: sumOf(...inBucket), count: inBucket.length });
    }
    expect(counter.pending).toBe(own.filter(({ kind }) => kind === 'pending').length);
    expect(counter.heldBy).toBe(own.find(({ kind }) => kind === 'equal')?.requestId);
  }
  for (const one of held.filter(({ kind }) => kind !== 'window'))
    expect(store.records.counters.has(one.counter)).toBe(true);
}

test('given anything that agents, people and time do, three at once, then every counter equals a recount, and every chain verifies', {
  timeout: 30_000,
}, async () => {
  const ended = new Set<string>();
  for (let seed = 1; seed <= 12; seed++) {
    const { desk, store } = bounded(seed);
    const random = seededRandom(seed);
    const ids = new Set<string>();
    for (let step = 0; step < 50; step++) {
      await Promise.all(Array.from({ length: 1 + random.below(3) }, () => doSomething(desk, random, ids)));
      const states = await Promise.all([...ids].map((id) => desk.state(id)));
      try {
        recount(store, states, toMilliseconds(desk.world.now()) / 1000);
        const waiting = states.filter(({ status }) => status === 'PENDING');
        expect(waiting.length).toBeLessThanOrEqual(9);
        if (step % 10 === 9)
          for (const runId of new Set(states.map((state) => state.runId)))
            expect(await desk.verify(runId)).toMatchObject({ intact: true });
      } catch (error) {
        throw new Error(`seed ${seed}, step ${step}`, { cause: error });
      }
      for (const { status, effectiveDigest, argsDigest } of states) {
        ended.add(status);
        if (effectiveDigest !== argsDigest) ended.add('edited');
      }
    }
  }
  expect([...ended].sort()).toEqual(
    ['PENDING', 'APPROVED', 'REJECTED', 'RESPONDED', 'TIMED_OUT', 'CANCELLED', 'REVOKED', 'edited'].sort(),
  );
});

test.each(['take', 'leave', 'letGo'])(
  'planted fault: given a store that forgets every "%s", then the recount sees it',
  async (does) => {
    const { desk, store } = bounded();
    const whole = delegating(store);
    desk.store = {
      ...whole,
      commit: (change, until) =>
        whole.commit(
          { ...change, moves: (change.moves ?? []).filter((move) => move.kind !== 'counter' || move.does !== does) },
          until,
        ),
    };
    const { requestId } = (await desk.ask('pay', { actionArgs: { amount: 90 } })).state;
    await desk.cancel(requestId);
    const states = [await desk.state(requestId)];
    expect(() => recount(store, states, toMilliseconds(desk.world.now()) / 1000)).toThrow();
  },
);

describe('what a request reserved', () => {
  test('is held until it is known not to run, then by nobody', async () => {
    const { desk } = bounded();
    const { requestId } = (await desk.ask('pay', { actionArgs: { amount: 90 }, onBehalfOf: 'Ada' })).state;
    const kinds = async () => (await desk.state(requestId)).reserved?.map(({ kind }) => kind);
    expect(await kinds()).toEqual(['window', 'window', 'pending', 'equal']);
    await desk.vote(requestId, bob, 'approve');
    expect(await kinds()).toEqual(['window', 'window']);
    desk.world.pass(601);
    await desk.sweep();
    expect(await desk.state(requestId)).toMatchObject({ status: 'REVOKED' });
    expect(await desk.state(requestId)).not.toHaveProperty('reserved');
    expect(await desk.verify()).toMatchObject({ intact: true });
  });

  test('given a state that claims another sum than its entries, then the verification says so', async () => {
    const { desk, store } = bounded();
    const { state } = await desk.ask('pay', { actionArgs: { amount: 90 } });
    const request = await store.readRequest(state.requestId);
    desk.store = {
      ...delegating(store),
      readRequest: async () =>
        request && {
          ...request,
          state: {
            ...request.state,
            reserved: (request.state.reserved ?? []).map((one) =>
              one.kind === 'window' ? { ...one, amount: '1' } : one,
            ),
          },
        },
    };
    expect(await desk.verify()).toMatchObject({ intact: false, reason: expect.stringContaining('reserved') });
  });

  test('given a stop, then nothing', async () => {
    const { desk, store } = bounded();
    const { state } = await desk.ask('pay', { actionArgs: { amount: 300.01 } });
    expect(state).toMatchObject({ status: 'REJECTED' });
    expect(state).not.toHaveProperty('reserved');
    expect(store.records.counters.size).toBe(0);
  });
});

test('given an agent at its cap, then 429 for it, and no other agent hears of it', async () => {
  const { desk } = bounded();
  for (let n = 0; n < 9; n++) await desk.ask('mail', { runId: `run-${n}` });
  await expect(desk.ask('mail', { runId: 'run-10' })).rejects.toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    members: { maxPending: 9, retryAfterSeconds: 30 },
  });
  expect((await desk.ask('mail', { runId: 'run-11' }, undefined, otherBot)).state.status).toBe('PENDING');
  expect(
    (await desk.ask('tip', { runId: 'run-12', actionArgs: { amount: 1 }, onBehalfOf: 'x' }, undefined, bot)).state
      .status,
  ).toBe('APPROVED');
});

test('given an approval_novel action with windows, then its precedent and its counters are one read', async () => {
  const novel = `
mission: default
defaults: { approverRole: support_manager }
windows: [{ id: paid, by: agent, value: /amount, over: 24h }]
actions:
  pay: { policy: approval_novel, noveltyKey: [/vendor], reason: First payment }
`;
  const desk = new Desk({ policy: novel });
  const reads: string[] = [];
  const whole = delegating(desk.store);
  const counted = Object.entries(whole).map(([name, method]) => [
    name,
    (...args: unknown[]) => {
      reads.push(name);
      return Reflect.apply(method, whole, args);
    },
  ]);
  desk.store = Object.fromEntries(counted);
  await desk.ask('pay', { actionArgs: { vendor: 'v', amount: 1 } });
  expect(reads).toEqual(['readForCreate', 'readTail', 'readCountersAndPrecedent', 'commit']);
});
