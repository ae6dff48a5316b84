import { describe, expect, test } from 'vitest';
import { CorruptRecordError } from '../../../core/corrupt-record.ts';
import type { StoredRequest } from '../../../core/ports.ts';
import type { RequestState } from '../../../core/request.ts';
import { readAudit } from '../../../core/use-cases/read-audit.ts';
import { verifyRun } from '../../../core/use-cases/verify-run.ts';
import { alteredStore } from './altered-store.ts';
import { paidRefund } from './paid-refund.ts';

const { desk, refund, mail } = await paidRefund();

const verifyWith = (alteration: Parameters<typeof alteredStore>[1]) =>
  verifyRun({ store: alteredStore(desk.store, alteration) }, { runId: 'run-1' });

const stateOf = (requestId: string, change: object) => (found: StoredRequest) =>
  found.state.requestId === requestId ? { ...found, state: { ...found.state, ...change } as RequestState } : found;

describe('CASE 56: verification of the requests', () => {
  test.each<[string, number, RegExp, (found: StoredRequest) => StoredRequest | undefined]>([
    [
      'status',
      4,
      /says status "REVOKED"/,
      (found) =>
        stateOf(mail, { status: 'REVOKED', decision: found.state.status === 'APPROVED' ? found.state.decision : {} })(
          found,
        ),
    ],
    [
      'claim',
      7,
      /says claim "forged"/,
      (found) => stateOf(refund, { claim: { claimId: 'forged', claimedAt: '', claimedBy: '' } })(found),
    ],
    ['claim taken away', 7, /says claim none/, (found) => stateOf(refund, { claim: undefined })(found)],
    [
      'effectiveDigest',
      4,
      /says effectiveDigest/,
      (found) => stateOf(mail, { effectiveDigest: `sha256:${'0'.repeat(64)}` })(found),
    ],
    [
      'decidedBy',
      4,
      /says decidedBy/,
      (found) =>
        stateOf(mail, { decision: { word: 'approve', source: 'human', decidedBy: ['mallory'], decidedAt: '' } })(found),
    ],
    [
      'votes',
      7,
      /says votes/,
      (found) => stateOf(refund, { votes: found.state.votes.map((vote) => ({ ...vote, approver: 'mallory' })) })(found),
    ],
    ['approvals', 4, /says approvals/, (found) => stateOf(mail, { approvals: [{ role: 'intern', count: 1 }] })(found)],
    ['deadline', 4, /says deadline/, (found) => stateOf(mail, { deadline: '2030-01-01T00:00:00.000Z' })(found)],
    ['claimBy', 4, /says claimBy/, (found) => stateOf(mail, { claimBy: '2030-01-01T00:00:00.000Z' })(found)],
    [
      'outcome',
      7,
      /says outcome "failed"/,
      (found) => stateOf(refund, { outcome: { outcome: 'failed', reportedAt: '' } })(found),
    ],
    ['onBehalfOf', 4, /says onBehalfOf/, (found) => stateOf(mail, { onBehalfOf: 'ann' })(found)],
    [
      'lastEntry',
      7,
      /says that|not the entry/,
      (found) => stateOf(refund, { lastEntry: { sequence: 7, hash: 'f' } })(found),
    ],
    [
      'lastEntry set back',
      7,
      /does not know of this entry/,
      (found) => stateOf(refund, { lastEntry: { sequence: 5, hash: 'f' } })(found),
    ],
    ['the whole request', 4, /which does not exist/, (found) => (found.state.requestId === mail ? undefined : found)],
  ])("given a state's %s was changed, then it is broken at %i", async (_, brokenAt, reason, request) => {
    const result = await verifyWith({ request });
    expect(result).toMatchObject({ intact: false, brokenAt });
    expect(result.reason).toMatch(reason);
  });

  test.each([
    ['argsDigest', 1],
    ['textsDigest', 1],
    ['vote', 3],
    ['outcome', 7],
  ])(
    'given the content of %s was changed or removed, then it is broken at %i, where it was named first',
    async (what, brokenAt) => {
      const { state } = await desk.read(refund);
      const digests: Record<string, string | undefined> = {
        argsDigest: state.argsDigest,
        textsDigest: state.textsDigest,
        vote: state.votes[0]?.textDigest,
        outcome: state.status === 'APPROVED' ? state.outcome?.resultDigest : undefined,
      };
      const digest = digests[what] ?? '';
      const content = (canonical: string | undefined) => (found: StoredRequest) => {
        if (found.state.requestId !== refund) return found;
        const others = [...found.contents].filter(([name]) => name !== digest);
        return {
          ...found,
          contents: new Map(canonical === undefined ? others : [...others, [digest, canonical] as const]),
        };
      };
      expect(await verifyWith({ request: content('{}') })).toMatchObject({ intact: false, brokenAt });
      expect((await verifyWith({ request: content('{}') })).reason).toMatch('does not match its digest');
      expect(await verifyWith({ request: content(undefined) })).toMatchObject({ intact: false, brokenAt });
    },
  );

  test('given a request, or one content, that can no longer be read, then that is the finding, and the audit is still shown', async () => {
    const store = alteredStore(desk.store, {
      request: (found) => {
        if (found.state.requestId === mail)
          throw new CorruptRecordError(`${mail}/state`, 'not as it was written: decision');
        return found;
      },
      entries: (all) => all.map((entry) => (entry.sequence === 3 ? { ...entry, canonical: '{' } : entry)),
    });
    const audit = await readAudit({ store }, { runId: 'run-1' });
    expect(audit.items.map((item) => ('type' in item ? item.type : item))).toMatchObject([
      'request_created',
      'request_created',
      { sequence: 3, unreadable: true },
      'request_approved',
      'request_approved',
      'approval_claimed',
      'outcome_reported',
    ]);
    expect(audit.items[1]).toMatchObject({ contents: {} });
    store.entries = (...given) => desk.store.entries(...given);
    expect(await verifyRun({ store }, { runId: 'run-1' })).toMatchObject({
      intact: false,
      brokenAt: 4,
      reason: `The stored record ${mail}/state cannot be read: not as it was written: decision.`,
    });
  });

  test('given the table does not answer, then the verification fails and says nothing of the run', async () => {
    const store = alteredStore(desk.store, {
      request: () => {
        throw new Error('throttled');
      },
    });
    await expect(verifyRun({ store }, { runId: 'run-1' })).rejects.toThrow('throttled');
  });
});
