import { expect, test } from 'vitest';
import { attemptKey } from '../../../core/audit-chain.ts';
import type { AuditEntry } from '../../../core/audit-entry.ts';
import { CountersignError } from '../../../core/errors.ts';
import { isCalled, type Principal } from '../../../core/principal.ts';
import type { RequestState } from '../../../core/request.ts';
import { buildChange } from '../../../core/use-cases/change-request.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { Desk, people } from './desk.ts';

const actions = ['look', 'send', 'refund', 'pay', 'remind'];
const decided = [
  'request_approved',
  'request_rejected',
  'request_responded',
  'request_timed_out',
  'request_proceeded',
  'request_cancelled',
];

/** Does one thing that somebody might do now. A refusal of the domain is fine; anything else is a bug. */
async function doSomething(desk: Desk, random: SeededRandom, ids: string[]): Promise<void> {
  const id = random.pick(ids);
  const person: Principal = random.pick(Object.values(people));
  const steps: (() => Promise<unknown>)[] = [
    async () => ids.push((await ask(desk, random)).state.requestId),
    () => desk.vote(id, person, 'approve'),
    () => desk.vote(id, person, 'approve'),
    () => desk.vote(id, person, 'approve'),
    () => desk.vote(id, person, 'reject'),
    () => desk.vote(id, person, 'edit', { editedArgs: { n: random.below(3) } }),
    () => desk.vote(id, person, 'respond', { response: random.below(2) }),
    () => desk.cancel(id),
    () => desk.revoke(id, person),
    () => desk.revoke(id, person),
    async () => desk.claim(id, { claimId: `claim-${random.below(2)}`, ...(await approvedArgs(desk, id)) }),
    async () => desk.report(id, { claimId: 'claim-1', outcome: random.pick(['unknown', 'succeeded', 'failed']) }),
    () => desk.dispatch(id),
    () => desk.sweep(),
    async () => desk.world.pass(random.pick([1, 120, 700, 3700, 7300])),
  ];
  try {
    await random.pick(steps)();
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
  }
}

function ask(desk: Desk, random: SeededRandom) {
  const onBehalfOf = random.pick([undefined, 'alice', 'Bob@example.org']);
  return desk.ask(random.pick(actions), { actionArgs: { n: random.below(3) }, ...(onBehalfOf && { onBehalfOf }) });
}

async function approvedArgs(desk: Desk, id: string) {
  const { state, contents } = await desk.read(id);
  return { actionArgs: JSON.parse(contents.get(state.effectiveDigest) ?? '').actionArgs };
}

/** The facts of a run, counted again from the entries alone. */
function recount(entries: AuditEntry[]) {
  const pending = new Set<string>();
  const attempts: Record<string, number> = {};
  const actionOf = new Map<string, string>();
  return (nameOf: (requestId: string) => string) => {
    for (const { type, requestId = '', details } of entries) {
      if (type === 'request_created') {
        actionOf.set(requestId, attemptKey(nameOf(requestId)));
        if (details.status === 'PENDING') pending.add(requestId);
        const key = actionOf.get(requestId) ?? '';
        if (attempts[key] !== undefined) attempts[key] += 1;
      }
      if (decided.includes(type)) pending.delete(requestId);
      if (type === 'request_rejected') attempts[actionOf.get(requestId) ?? ''] ??= 1;
    }
    return { pending: pending.size, attempts };
  };
}

function checkRequest(state: RequestState, own: AuditEntry[]): void {
  const last = own.at(-1);
  expect(state.lastEntry).toEqual({ sequence: last?.sequence, hash: last?.hash });
  expect(state.version, 'one entry for each version').toBe(own.length);
  const decisions = own.filter(({ type }) => decided.includes(type));
  expect(decisions.length).toBeLessThanOrEqual(1);
  if (state.status === 'PENDING') expect(decisions).toEqual([]);
  const types = own.map(({ type }) => type as string);
  const claimed = types.indexOf('approval_claimed');
  expect(types.lastIndexOf('approval_claimed'), 'claimed once').toBe(claimed);
  if (claimed >= 0) {
    expect(state).toMatchObject({ status: 'APPROVED', claim: {} });
    const allowed = types.findIndex((type) => type === 'request_approved' || type === 'request_proceeded');
    if (state.policy.name !== 'autonomous') expect(allowed).toBeGreaterThan(-1);
    expect(allowed).toBeLessThan(claimed);
  }
  if (state.status !== 'APPROVED' || state.decision.source !== 'human') return;
  const needed = state.approvals.reduce((sum, { count }) => sum + count, 0);
  expect(new Set(state.decision.decidedBy).size).toBe(needed);
  for (const id of state.decision.decidedBy) {
    const person = Object.values(people).find((one) => one.id === id) as Principal;
    expect(isCalled(person, state.requestedBy)).toBe(false);
    if (state.onBehalfOf) expect(isCalled(person, state.onBehalfOf)).toBe(false);
    expect(state.editors).not.toContain(id);
    const vote = state.votes.findLast(({ approver }) => approver === id);
    expect(vote?.editedDigest ?? vote?.argsDigest, 'given to what may run').toBe(state.effectiveDigest);
    expect(vote && vote.at < state.deadline).toBe(true);
  }
}

async function checkRun(desk: Desk, ids: string[]): Promise<Set<string>> {
  const stored = await desk.store.entries('run-1', 0, 10_000);
  const entries: AuditEntry[] = stored.map((entry) => ({ ...JSON.parse(entry.canonical), ...entry }));
  const states = new Map(await Promise.all(ids.map(async (id) => [id, await desk.state(id)] as const)));
  for (const [id, state] of states)
    checkRequest(
      state,
      entries.filter(({ requestId }) => requestId === id),
    );
  expect(entries.at(-1)?.run).toMatchObject(recount(entries)((id) => states.get(id)?.actionName ?? ''));
  const waiting = [...states.values()].filter(({ status }) => status === 'PENDING');
  expect(entries.at(-1)?.run.pending).toBe(waiting.length);
  return new Set([...entries.map(({ type }) => type), ...[...states.values()].map(({ status }) => status)]);
}

test('given any sequence of what agents, people and time do, up to three at once, then every promise holds after each step', {
  timeout: 30_000,
}, async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 16; seed++) {
    const desk = new Desk({ seed });
    const random = seededRandom(seed);
    const ids = [(await ask(desk, random)).state.requestId];
    for (let step = 0; step < 30; step++) {
      await Promise.all(Array.from({ length: 1 + random.below(3) }, () => doSomething(desk, random, ids)));
      try {
        for (const what of await checkRun(desk, ids)) seen.add(what);
        if (step % 5 === 4) expect(await desk.verify()).toMatchObject({ intact: true });
      } catch (error) {
        throw new Error(`seed ${seed}, step ${step}`, { cause: error });
      }
    }
  }
  expect([...seen].sort(), 'every kind of entry and every status was met').toEqual(
    [
      ...['PENDING', 'APPROVED', 'REJECTED', 'RESPONDED', 'TIMED_OUT', 'CANCELLED', 'REVOKED'],
      ...['request_created', 'vote_recorded', 'arguments_edited', 'request_escalated', 'late_attempt', ...decided],
      ...['approval_revoked', 'approval_expired', 'approval_claimed', 'outcome_reported'],
    ].sort(),
  );
});

test('planted fault: given a sweep that closes without looking at the status, then the check above sees two decisions', async () => {
  const desk = new Desk();
  const { requestId } = (await desk.ask('send')).state;
  await desk.vote(requestId, people.alice, 'approve');
  await checkRun(desk, [requestId]);
  const before = await desk.state(requestId);
  const now = desk.world.now();
  const { deadline } = before;
  const change = buildChange(
    {
      before,
      after: {
        ...before,
        status: 'TIMED_OUT',
        decision: { word: 'timeout', source: 'timeout', decidedBy: [], decidedAt: now },
        closedAt: now,
      },
      event: { type: 'request_timed_out', details: { deadline, reason: 'no_answer' } },
      contents: [],
    },
    { tail: await desk.store.readTail('run-1'), actor: { kind: 'service', id: 'sweep' }, now },
  );
  expect(await desk.store.commit(change, desk.world.in(5))).toBe('committed');
  await expect(checkRun(desk, [requestId])).rejects.toThrow();
});

test.each([
  ['the requester', { requestedBy: 'alice' }],
  ['the subject', { onBehalfOf: 'ALICE' }],
  ['an editor', { editors: ['alice'] }],
  ['an approver of other arguments', { effectiveDigest: 'sha256:other' }],
  ['one instead of two', { approvals: [{ role: 'support_manager', count: 2 }] }],
])('planted fault: given a quorum that counted %s, then the check above fails', async (_, planted) => {
  const desk = new Desk();
  const { requestId } = (await desk.ask('send')).state;
  const state = await desk.vote(requestId, people.alice, 'approve');
  const own = (await desk.store.entries('run-1', 0, 10)).map((entry) => ({ ...JSON.parse(entry.canonical), ...entry }));
  checkRequest(state, own);
  expect(() => checkRequest({ ...state, ...planted } as RequestState, own)).toThrow();
});
