import { beforeEach, describe, expect, test } from 'vitest';
import { addSeconds } from '../../core/instant.ts';
import type {
  AuditStore,
  DeliveryStore,
  PolicyStore,
  PrecedentStore,
  RequestLists,
  RequestStore,
} from '../../core/ports.ts';
import { countersContract } from './counters-contract.ts';
import { deliveryContract, due } from './delivery-contract.ts';
import { listContract } from './list-contract.ts';
import { movesContract } from './moves-contract.ts';
import { policiesContract } from './policies-contract.ts';
import {
  oneOfManyCreatesWins,
  oneOfManyDecidersWins,
  oneOfManyTwinsWins,
  theChainNeitherForksNorBreaks,
} from './races.ts';
import {
  action,
  asked,
  cancelled,
  changeOf,
  contentOf,
  creationOf,
  given,
  newId,
  pendingState,
  read,
  soon,
} from './requests.ts';

export type Store = RequestStore & DeliveryStore & RequestLists & AuditStore & PrecedentStore & PolicyStore;

/** What every store must do. `empty` makes one of which nothing is stored. */
export function storeContract(name: string, empty: () => Promise<Store>): void {
  describe(`the store ${name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await empty();
    });

    test('knows nothing of what was never stored', async () => {
      expect(await store.readRequest(newId())).toBeUndefined();
      expect(await store.readState(newId())).toBeUndefined();
      expect(await store.readTail(newId())).toBeUndefined();
      expect(await store.entries(newId(), 0, 10)).toEqual([]);
    });

    test('CASES 16, 18: gives back exactly what was stored', async () => {
      const odd = contentOf({
        empty: '',
        zero: 0,
        no: false,
        nothing: null,
        tenth: 0.1,
        big: 1e300,
        text: '\u202e😀\n',
      });
      const state = pendingState({
        onBehalfOf: '',
        sample: { rate: 0.1, draw: 0.12345678901234566, sampled: false },
        lateAttempts: { 'a.b #c :d': 1 },
      });
      const change = creationOf(state, undefined, [action, odd, odd]);
      expect(await store.commit(change, soon())).toBe('committed');
      expect(await store.readRequest(state.requestId)).toEqual({
        state: change.after,
        contents: new Map([action, odd].map(({ digest, canonical }) => [digest, canonical])),
      });
      expect(await store.readState(state.requestId)).toEqual(change.after);
      expect(await store.readTail(state.runId)).toEqual(change.entry);
      const { runId, sequence, hash, canonical } = change.entry;
      expect(await store.entries(runId, 0, 10)).toEqual([{ runId, sequence, hash, canonical }]);
    });

    test('keeps nothing that its caller still holds', async () => {
      const { state } = await given(store, pendingState());
      state.votes.push({ approver: 'mallory', word: 'approve', roles: [], at: asked });
      expect((await store.readState(state.requestId))?.votes).toEqual([]);
    });

    test('CASE 22: of 64 creates with one id one wins', () => oneOfManyCreatesWins(store));
    test('CASE 1: of 50 who decide at once one wins', () => oneOfManyDecidersWins(store));
    test('of eight who write the very same one wins', () => oneOfManyTwinsWins(store));
    test('CASE 55: of many who write one run each gets its own place', () => theChainNeitherForksNorBreaks(store));

    test('refuses a change to another version than the stored one, and writes nothing of it', async () => {
      const first = await given(store, pendingState());
      expect(await store.commit(changeOf(first.state, first.tail, { editors: ['alice'] }), soon())).toBe('committed');
      const now = await read(store, first.state.requestId, first.state.runId);
      const stale = { ...changeOf(first.state, now.tail, cancelled()), contents: [contentOf('late')] };
      expect(await store.commit(stale, soon())).toBe('conflict');
      expect(await read(store, first.state.requestId, first.state.runId)).toEqual(now);
      expect((await store.readRequest(first.state.requestId))?.contents.size).toBe(1);
    });

    test('refuses an entry whose number is taken, and writes nothing of its change', async () => {
      const runId = newId();
      const one = await given(store, pendingState({ runId }));
      const other = creationOf(pendingState({ runId }));
      expect(await store.commit(other, soon())).toBe('conflict');
      expect(await store.readState(other.after.requestId)).toBeUndefined();
      expect(await store.readTail(runId)).toEqual(one.tail);
    });

    test('removes what a change takes away and adds what it brings', async () => {
      const { state, tail } = await given(store, pendingState({ occurrenceId: 'once' }));
      const edit = contentOf({ edited: true });
      const change = changeOf(state, tail, { occurrenceId: undefined, editors: ['alice'], wakeAt: undefined });
      expect(await store.commit({ ...change, contents: [edit, action] }, soon())).toBe('committed');
      const stored = await store.readRequest(state.requestId);
      expect(stored?.state).toEqual({ ...change.after });
      expect(stored?.state).not.toHaveProperty('occurrenceId');
      expect([...(stored?.contents.keys() ?? [])].sort()).toEqual([action.digest, edit.digest].sort());
      expect(await due(store)).toEqual([]);
    });

    test('CASE 3: takes no vote at the deadline or after it, but notes who came too late', async () => {
      const { state, tail } = await given(store, pendingState());
      const rejection = (at: string) =>
        changeOf(
          state,
          tail,
          {
            status: 'REJECTED',
            decision: { word: 'reject', source: 'human', decidedBy: ['alice'], decidedAt: at },
            closedAt: at,
          },
          { type: 'request_rejected', details: { word: 'reject', roles: [], decidedBy: ['alice'] } },
          'alice',
          at,
        );
      expect(await store.commit(rejection(state.deadline), soon())).toBe('conflict');
      expect(await store.readState(state.requestId)).toEqual(state);
      const late = changeOf(
        state,
        tail,
        { lateAttempts: { alice: 1 } },
        { type: 'late_attempt', details: { attempted: 'approve', tooLateSince: state.deadline } },
        'alice',
        addSeconds(state.deadline, 1),
      );
      expect(await store.commit(late, soon())).toBe('committed');
    });

    test('binds a revision to a request of the same requester', async () => {
      const { state } = await given(store, pendingState());
      const revision = (requestId: string, requestedBy: string) => ({
        ...creationOf(pendingState({ requestedBy, revisionOf: requestId })),
        revises: { requestId, requestedBy },
      });
      const foreign = revision(state.requestId, 'billing-bot');
      await expect(store.commit(foreign, soon())).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
      await expect(store.commit(revision(newId(), 'support-bot'), soon())).rejects.toThrow(/revisionOf/);
      expect(await store.readState(foreign.after.requestId)).toBeUndefined();
      expect(await store.commit(revision(state.requestId, 'support-bot'), soon())).toBe('committed');
    });

    deliveryContract(() => store);
    listContract(() => store);
    movesContract(() => store);
    countersContract(() => store);
    policiesContract(() => store);
  });
}
