import { describe, expect, test } from 'vitest';
import type { Move } from '../../core/move.ts';
import type { PrecedentStore, RequestStore } from '../../core/ports.ts';
import { type Precedent, precedentIdOf } from '../../core/precedent.ts';
import type { Sample } from '../../core/sample.ts';
import { asked, cancelled, changeOf, creationOf, given, newId, pendingState, soon } from './requests.ts';

type Store = RequestStore & PrecedentStore;

export const precedentOf = (missionId: string, more: Partial<Precedent> = {}): Precedent => ({
  precedentId: precedentIdOf({ actionName: 'pay', actionArgs: { vendor: newId() }, phase: 'before' }, ['/vendor']),
  missionId,
  actionName: 'pay',
  noveltyKey: ['/vendor'],
  requestId: newId(),
  runId: newId(),
  approvedBy: ['alice'],
  approvedAt: asked,
  setAt: asked,
  ...more,
});

const sampleOf = (sampleId: string): Sample => ({
  sampleId,
  runId: newId(),
  missionId: 'default',
  actionName: 'tag',
  policyVersion: 'v1',
  requestedBy: 'support-bot',
  sampledAt: asked,
  effectiveDigest: 'sha256:',
});

/** What a store does with the moves of a change: all with it, or none. */
export function movesContract(store: () => Store): void {
  const make = (moves: Move[]) => store().commit({ ...creationOf(pendingState()), moves }, soon());

  describe('the moves of a change', () => {
    test('are written with it', async () => {
      const precedent = precedentOf(newId());
      expect(await store().readPrecedent(precedent)).toBeUndefined();
      expect(await make([{ kind: 'precedent', precedent }])).toBe('committed');
      expect(await store().readPrecedent(precedent)).toEqual(precedent);
    });

    test('one whose condition does not hold makes all of it a conflict', async () => {
      const precedent = precedentOf(newId());
      const never = precedentOf(precedent.missionId);
      const change = creationOf(pendingState());
      const moves: Move[] = [
        { kind: 'precedent', precedent: never },
        { kind: 'precedent-relied-on', precedent },
      ];
      expect(await store().commit({ ...change, moves }, soon())).toBe('conflict');
      expect(await store().readState(change.after.requestId)).toBeUndefined();
      expect(await store().readTail(change.after.runId)).toBeUndefined();
      expect(await store().readPrecedent(never)).toBeUndefined();
    });

    test('are not written with a change that lost its race', async () => {
      const precedent = precedentOf(newId());
      const { state, tail } = await given(store(), pendingState());
      expect(await store().commit(changeOf(state, tail, { editors: ['alice'] }), soon())).toBe('committed');
      const stale = changeOf(state, tail, cancelled());
      expect(await store().commit({ ...stale, moves: [{ kind: 'precedent', precedent }] }, soon())).toBe('conflict');
      expect(await store().readPrecedent(precedent)).toBeUndefined();
    });

    test('a precedent is set once, revoked once, and set again only over what was read', async () => {
      const precedent = precedentOf(newId());
      const revoked = { by: 'bob', at: asked };
      const again = { ...precedent, requestId: newId() };
      expect(await make([{ kind: 'precedent', precedent }])).toBe('committed');
      expect(await make([{ kind: 'precedent', precedent: again }])).toBe('conflict');
      expect(await make([{ kind: 'precedent-relied-on', precedent }])).toBe('committed');
      expect(await make([{ kind: 'precedent-revocation', before: again, revoked }])).toBe('conflict');
      expect(await make([{ kind: 'precedent-revocation', before: precedent, revoked }])).toBe('committed');
      expect(await make([{ kind: 'precedent-revocation', before: precedent, revoked }])).toBe('conflict');
      expect(await make([{ kind: 'precedent-relied-on', precedent }])).toBe('conflict');
      expect(await store().readPrecedent(precedent)).toEqual({ ...precedent, revoked });
      expect(await make([{ kind: 'precedent', precedent: again, before: precedent }])).toBe('conflict');
      expect(await make([{ kind: 'precedent', precedent: again, before: { ...precedent, revoked } }])).toBe(
        'committed',
      );
      expect(await store().readPrecedent(precedent)).toEqual(again);
    });

    test('a sample is filled where it is, and never made by its filling', async () => {
      const fill = { outcome: 'succeeded', reportedAt: asked, reviewQueue: 'support_manager' } as const;
      const sampleId = newId();
      expect(await make([{ kind: 'sample-fill', sampleId, fill }])).toBe('conflict');
      expect(await make([{ kind: 'sample', sample: sampleOf(sampleId) }])).toBe('committed');
      expect(await make([{ kind: 'sample-fill', sampleId, fill }])).toBe('committed');
    });

    test('precedents of an action are listed page by page, in one mission', async () => {
      const missionId = newId();
      const all = [precedentOf(missionId), precedentOf(missionId), precedentOf(missionId)];
      const others = [
        precedentOf(newId()),
        precedentOf(missionId, {
          actionName: 'x',
          precedentId: precedentIdOf({ actionName: 'x', actionArgs: {}, phase: 'before' }, ['/v']),
        }),
      ];
      for (const precedent of [...all, ...others]) await make([{ kind: 'precedent', precedent }]);
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store().precedentsOf({ missionId, actionName: 'pay' }, 2, cursor);
        ids.push(...page.items.map(({ precedentId }) => precedentId));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(ids).toEqual(all.map(({ precedentId }) => precedentId).sort());
      const foreign = store().precedentsOf({ missionId, actionName: 'pay' }, 2, 'bm8');
      await expect(foreign).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    });
  });
}
