import { describe, expect, test } from 'vitest';
import { nextInChain, sealEntry } from '../../core/audit-chain.ts';
import type { AuditEntry } from '../../core/audit-entry.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Move } from '../../core/move.ts';
import { checkPolicyDocument } from '../../core/policy-document.ts';
import type { AuditStore, PolicyStore, RequestStore } from '../../core/ports.ts';
import { documentDigest } from '../../core/publication.ts';
import { type PolicyHead, type PublishedPolicy, policiesRun } from '../../core/published-policy.ts';
import { asked, creationOf, given, newId, pendingState, soon } from './requests.ts';

type Store = RequestStore & PolicyStore & AuditStore;

const documentOf = (mission: string, when = 'args.amount > 1e-7 && args.amount < 12345678901234567890.0') =>
  checkPolicyDocument({
    mission,
    defaults: { approverRole: 'support_agent' },
    actions: { 'pay ✓': { policy: 'sampling', sampleRate: 0.1, reason: 'Ünïcode' } },
    // biome-ignore lint/suspicious/noThenProperty: the word of the policy language; nobody awaits a rule
    rules: [{ id: 'r', when, then: 'stop' }],
  } satisfies JsonObject);

const publishedOf = (missionId: string, version: number): PublishedPolicy => {
  const document = documentOf(missionId);
  const digest = documentDigest(document);
  return { missionId, version, document, digest, publishedAt: asked, publishedBy: 'erin' };
};

function entryAfter(tail: AuditEntry | undefined, missionId: string, version: number): AuditEntry {
  const diff = { added: [], removed: [], changed: [] };
  const diffs = { actions: diff, rules: diff, settings: diff };
  return sealEntry({
    type: 'policy_published',
    details: { missionId, version: String(version), documentDigest: '', force: false, diff: diffs },
    ...nextInChain(tail),
    runId: policiesRun(missionId),
    at: asked,
    actor: { kind: 'person', id: 'erin' },
    run: { pending: 0, attempts: {} },
  });
}

const movesTo = (missionId: string, version: number, before?: PolicyHead): Move[] => [
  { kind: 'policy-version', published: publishedOf(missionId, version) },
  {
    kind: 'policy-head',
    missionId,
    ...(before && { before }),
    after: { newest: version, digest: publishedOf(missionId, version).digest },
  },
];

/** What a store does with published policies, and with an entry that is about no request. */
export function policiesContract(store: () => Store): void {
  const publish = async (missionId: string, version: number, before?: PolicyHead) => {
    const entry = entryAfter(await store().readTail(policiesRun(missionId)), missionId, version);
    return store().record(entry, movesTo(missionId, version, before), soon());
  };

  describe('policies', () => {
    test('a version is read back as it was published, to the last digit; the head says which one is the newest', async () => {
      const missionId = newId();
      expect(await store().readHead(missionId)).toBeUndefined();
      expect(await store().readPublished(missionId, 1)).toBeUndefined();
      expect(await publish(missionId, 1)).toBe('committed');
      const { digest } = publishedOf(missionId, 1);
      expect(await store().readHead(missionId)).toEqual({ newest: 1, digest });
      expect(await store().readPublished(missionId, 1)).toEqual(publishedOf(missionId, 1));
      expect(await publish(missionId, 2, { newest: 1, digest })).toBe('committed');
      expect(await store().readHead(missionId)).toMatchObject({ newest: 2 });
      expect(await store().readPublished(missionId, 1)).toEqual(publishedOf(missionId, 1));
      expect(await store().entries(policiesRun(missionId), 0, 10)).toHaveLength(2);
    });

    test('a number is taken once, and a head that has moved is a conflict that writes nothing', async () => {
      const missionId = newId();
      const head: PolicyHead = { newest: 1, digest: publishedOf(missionId, 1).digest };
      expect(await publish(missionId, 1)).toBe('committed');
      expect(await publish(missionId, 1)).toBe('conflict');
      expect(await publish(missionId, 1, head)).toBe('conflict');
      expect(await publish(missionId, 2)).toBe('conflict');
      expect(await publish(missionId, 2, { ...head, forced: 1 })).toBe('conflict');
      expect(await store().readPublished(missionId, 2)).toBeUndefined();
      expect(await store().entries(policiesRun(missionId), 0, 10)).toHaveLength(1);
      expect(await publish(missionId, 2, head)).toBe('committed');
    });

    test('of any number who publish at once, one wins', async () => {
      const missionId = newId();
      const results = await Promise.all(Array.from({ length: 10 }, () => publish(missionId, 1)));
      expect(results.filter((result) => result === 'committed')).toHaveLength(1);
      expect(await store().entries(policiesRun(missionId), 0, 20)).toHaveLength(1);
    });

    test('an entry that goes with a change stands in its own chain, or nothing is written', async () => {
      const missionId = newId();
      const entry = entryAfter(undefined, missionId, 1);
      const moves: Move[] = [...movesTo(missionId, 1), { kind: 'entry', entry }];
      const change = creationOf(pendingState());
      expect(await store().commit({ ...change, moves }, soon())).toBe('committed');
      expect((await store().readTail(entry.runId))?.hash).toBe(entry.hash);
      expect((await store().readTail(change.entry.runId))?.hash).toBe(change.entry.hash);
      const late = creationOf(pendingState());
      expect(await store().commit({ ...late, moves: [{ kind: 'entry', entry }] }, soon())).toBe('conflict');
      expect(await store().readState(late.after.requestId)).toBeUndefined();
    });

    test('a create reads who took its id and the mission’s head together', async () => {
      const missionId = newId();
      const nothing = await store().readForCreate(newId(), missionId);
      expect([nothing.earlier, nothing.head]).toEqual([undefined, undefined]);
      await publish(missionId, 1);
      const { state } = await given(store(), pendingState());
      const found = await store().readForCreate(state.requestId, missionId);
      expect(found.earlier?.requestId).toBe(state.requestId);
      expect(found.head?.newest).toBe(1);
      expect((await store().readForCreate(undefined, missionId)).earlier).toBeUndefined();
    });
  });
}
