import { describe, expect, test } from 'vitest';
import { hashOfEntry } from '../../../core/audit-chain.ts';
import { canonicalJson } from '../../../core/canonical-json.ts';
import type { JsonValue } from '../../../core/json.ts';
import type { RequestState } from '../../../core/request.ts';
import { verifyRun } from '../../../core/use-cases/verify-run.ts';
import { alteredStore } from './altered-store.ts';
import { Desk, people } from './desk.ts';

const { alice, bob, carol, dan } = people;

/** A run in which requests ended in every way, each with every text that it can have. */
async function everyEnding(): Promise<{ desk: Desk; requests: Record<string, RequestState> }> {
  const desk = new Desk();
  let question = 0;
  const ask = async (actionName: string) => {
    const contextSummary = `question ${++question}`;
    return (await desk.ask(actionName, { sourceAgent: 'a', targetAgent: 'b', contextSummary })).state;
  };
  const asked = {
    pending: await ask('send'),
    rejected: await ask('send'),
    answered: await ask('send'),
    cancelled: await ask('send'),
    revoked: await ask('send'),
    edited: await ask('send'),
    expired: await ask('send'),
    paid: await ask('refund'),
    escalated: await ask('refund'),
  };
  const id = (name: keyof typeof asked) => asked[name].requestId;
  const note = { note: 'because' };
  const editedArgs = { to: 'bea@example.org' };
  await desk.vote(id('rejected'), alice, 'reject', note);
  await desk.vote(id('answered'), alice, 'respond', { ...note, response: 5 });
  await desk.cancel(id('cancelled'));
  await desk.vote(id('revoked'), alice, 'approve', note);
  await desk.revoke(id('revoked'), alice, { note: 'no, wait' });
  await desk.vote(id('edited'), alice, 'edit', { ...note, editedArgs });
  await desk.vote(id('expired'), alice, 'approve');
  await desk.vote(id('paid'), alice, 'edit', { ...note, editedArgs });
  await desk.vote(id('paid'), bob, 'approve', note);
  await desk.vote(id('paid'), dan, 'approve', note);
  const { claimId } = await desk.claim(id('paid'), { actionArgs: editedArgs, sourceAgent: 'a', targetAgent: 'b' });
  await desk.report(id('paid'), { claimId, outcome: 'unknown', result: 'perhaps' });
  desk.world.pass(1);
  await desk.report(id('paid'), { claimId, outcome: 'succeeded', result: 'sent' });
  desk.world.pass(7200);
  await desk.sweep();
  await desk.vote(id('escalated'), carol, 'approve');
  const requests: Record<string, RequestState> = { allowed: await ask('look') };
  for (const name of Object.keys(asked) as (keyof typeof asked)[]) requests[name] = await desk.state(id(name));
  return { desk, requests };
}

const { desk, requests } = await everyEnding();

/** Where each text, number and list entry of a value stands. */
const leavesOf = (value: unknown, path: string[] = []): string[][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]))
    : [path];

function forged(value: JsonValue, [name, ...rest]: string[]): JsonValue {
  if (name === undefined) return otherThan(value);
  if (Array.isArray(value)) return value.with(Number(name), forged(value[Number(name)] as JsonValue, rest));
  const members = value as Record<string, JsonValue>;
  return { ...members, [name]: forged(members[name] as JsonValue, rest) };
}

function otherThan(value: JsonValue): JsonValue {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  const text = String(value);
  if (text.startsWith('sha256:')) return `sha256:${'0'.repeat(64)}`;
  return /^\d{4}-/.test(text) ? '2031-01-01T00:00:00.000Z' : `${text}x`;
}

/** What no entry says: names for the agent's own use, what `dispatch` and the sweep move, counts. */
const notTold = ['bodyDigest', 'lateAttempts', 'owed', 'delivered', 'wakeAt', 'version'];

/** Of what is held of a window the entries say how much and since when; whose counter it is would name the subject. */
const isCounterName = (member: string, part: string | undefined): boolean =>
  member === 'reserved' && (part === 'kind' || part === 'counter');

const verifyWithState = (state: RequestState) =>
  verifyRun(
    {
      store: alteredStore(desk.store, {
        request: (found) => (found.state.requestId === state.requestId ? { ...found, state } : found),
      }),
    },
    { runId: 'run-1' },
  );

describe('CASE 56: a forged state', () => {
  test('given nothing was forged, then the run is intact, and every status is in it', async () => {
    expect(await desk.verify()).toMatchObject({ intact: true });
    expect(new Set(Object.values(requests).map(({ status }) => status))).toEqual(
      new Set(['APPROVED', 'TIMED_OUT', 'REJECTED', 'RESPONDED', 'CANCELLED', 'REVOKED', 'PENDING']),
    );
  });

  const leaves = Object.entries(requests).flatMap(([name, state]) =>
    leavesOf(state)
      .filter(
        ([member = '', , part]) => !notTold.includes(member) && member !== 'requestId' && !isCounterName(member, part),
      )
      .map((path) => [name, path.join('.'), path] as const),
  );

  test.each(leaves)('given the %s request with another %s, then it is found', async (name, _, path) => {
    const state = forged(requests[name] as unknown as JsonValue, path as string[]) as unknown as RequestState;
    expect(canonicalJson(state)).not.toBe(canonicalJson(requests[name]));
    expect(await verifyWithState(state)).toMatchObject({ intact: false });
  });

  test.each<[string, string, object]>([
    ['allowed', 'claimBy', { claimBy: '2031-01-01T00:00:00.000Z' }],
    ['allowed', 'policyDigest', { policy: { ...requests.allowed?.policy, validForSeconds: 1_000_000 } }],
    ['pending', 'policyDigest', { policy: { ...requests.pending?.policy, secretPaths: ['/actionArgs/to'] } }],
    ['pending', 'actionName', { actionName: 'look' }],
    ['pending', 'asked', { asked: ['intern'] }],
    ['pending', 'votes', { votes: [{ approver: 'mallory', word: 'approve', roles: [], at: '' }] }],
    ['paid', 'argsDigest', { argsDigest: requests.paid?.effectiveDigest }],
    ['paid', 'textsDigest', { textsDigest: requests.pending?.textsDigest }],
  ])('given the %s request, then it is %s that is named', async (name, what, change) => {
    const result = await verifyWithState({ ...requests[name], ...change } as RequestState);
    expect(result.reason).toMatch(`says ${what} `);
  });

  test('given entries of before policies were recorded, then the policy is not held against them', async () => {
    const old = new Desk();
    await old.ask('send');
    const [stored] = await old.store.entries('run-1', 0, 1);
    const canonical = (stored?.canonical ?? '').replace(/"policyDigest":"sha256:[0-9a-f]{64}",/, '');
    expect(canonical.length).toBe((stored?.canonical.length ?? 0) - 89);
    const hash = hashOfEntry(canonical);
    const before = (validForSeconds: number) =>
      alteredStore(old.store, {
        entries: (all) => all.map((entry) => ({ ...entry, canonical, hash })),
        request: ({ state, contents }) => ({
          state: { ...state, policy: { ...state.policy, validForSeconds }, lastEntry: { sequence: 1, hash } },
          contents,
        }),
      });
    expect(await verifyRun({ store: before(60) }, { runId: 'run-1' })).toMatchObject({ intact: true });
  });
});
