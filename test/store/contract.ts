import { beforeEach, describe, expect, test } from 'vitest';
import { addSeconds } from '../../core/instant.ts';
import type { AuditStore, DeliveryStore, Page, RequestLists, RequestStore } from '../../core/ports.ts';
import { oneOfManyCreatesWins, oneOfManyDecidersWins, theChainNeitherForksNorBreaks } from './races.ts';
import {
  action,
  asked,
  cancelled,
  changeOf,
  contentOf,
  creationOf,
  given,
  newId,
  owedTo,
  pendingState,
  read,
  soon,
} from './requests.ts';

export type Store = RequestStore & DeliveryStore & RequestLists & AuditStore;

const senior = 'asked-0-senior_manager';
const support = 'asked-0-support_manager';

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

    test('counts late attempts beside any change', async () => {
      const { state, tail } = await given(store, pendingState({ lateAttempts: { alice: 1 } }));
      await Promise.all(Array.from({ length: 5 }, () => store.countLateAttempt(state.requestId, 'alice')));
      expect(await store.commit(changeOf(state, tail, { lateAttempts: { alice: 1, bob: 1 } }), soon())).toBe(
        'committed',
      );
      expect((await store.readState(state.requestId))?.lateAttempts).toEqual({ alice: 6, bob: 1 });
      const unknown = newId();
      await store.countLateAttempt(unknown, 'alice');
      expect(await store.readRequest(unknown)).toBeUndefined();
    });

    test('a decision on a stale reading brings no delivery back and loses none', async () => {
      const { state, tail } = await given(store, pendingState());
      await store.strike(state.requestId, support, asked);
      const later = owedTo('senior_manager', addSeconds(asked, 60));
      await store.postpone(state.requestId, senior, { ...later, attempts: 1 });
      const escalated = { ...owedTo('director'), kind: 'escalated' as const, level: 1 };
      const change = changeOf(state, tail, { level: 1, owed: { ...state.owed, 'escalated-1-director': escalated } });
      expect(await store.commit(change, soon())).toBe('committed');
      expect(await store.readState(state.requestId)).toMatchObject({ version: 2, delivered: { [support]: asked } });
      expect((await store.readState(state.requestId))?.owed).toEqual({
        [senior]: { ...later, attempts: 1 },
        'escalated-1-director': escalated,
      });
    });

    test('a decision takes away what is owed, and a dispatcher that still holds it changes nothing', async () => {
      const { state, tail } = await given(store, pendingState());
      expect(await store.commit(changeOf(state, tail, cancelled()), soon())).toBe('committed');
      const decided = await store.readState(state.requestId);
      await store.strike(state.requestId, senior, asked);
      await store.postpone(state.requestId, senior, owedTo('senior_manager'));
      expect(await store.lease(state.requestId, senior, asked, addSeconds(asked, 60))).toBe(false);
      expect(await store.readState(state.requestId)).toEqual(decided);
      expect(decided).toMatchObject({ owed: {}, delivered: {} });
    });

    test('of eight dispatchers one takes a delivery', async () => {
      const { state } = await given(store, pendingState());
      const until = (index: number) => addSeconds(asked, 60 + index);
      const leases = Array.from({ length: 8 }, (_, index) => store.lease(state.requestId, senior, asked, until(index)));
      const taken = await Promise.all(leases);
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await store.readState(state.requestId)).toMatchObject({
        version: 1,
        owed: { [senior]: { nextAt: until(taken.indexOf(true)) }, [support]: { nextAt: asked } },
      });
    });

    test('rests only where nothing has moved since it was read', async () => {
      const { state, tail } = await given(store, pendingState());
      const { requestId } = state;
      const wakeAt = async () => (await store.readState(requestId))?.wakeAt;
      await store.rest(requestId, 1, [senior], state.deadline);
      await store.rest(requestId, 1, [senior, 'asked-0-other'], state.deadline);
      await store.rest(requestId, 2, [senior, support], state.deadline);
      expect(await wakeAt()).toBe(asked);
      await store.rest(requestId, 1, [support, senior], state.deadline);
      expect(await wakeAt()).toBe(state.deadline);
      expect(await due(store)).toEqual([]);
      await store.rest(requestId, 1, [support, senior], undefined);
      expect(await wakeAt()).toBeUndefined();
      expect(await store.commit(changeOf(state, tail, { editors: ['alice'] }), soon())).toBe('committed');
      expect(await due(store)).toEqual([requestId]);
    });

    test('CASE 32: finds everything that is due, over more than one page, and nothing else', async () => {
      const states = Array.from({ length: 450 }, () => pendingState());
      const notYet = [pendingState({ wakeAt: addSeconds(asked, 1) }), pendingState({ wakeAt: undefined })];
      await inTurn([...states, ...notYet], async (state) => {
        expect(await store.commit(creationOf(state), soon())).toBe('committed');
      });
      const found = await due(store);
      expect(found.length).toBe(450);
      expect(new Set(found)).toEqual(new Set(states.map(({ requestId }) => requestId)));
    });

    test('CASE 6: who is still asked follows every change', async () => {
      const { state, tail } = await given(store, pendingState());
      const waits = async (role: string) => (await store.pendingForRole(role, 10)).items;
      expect(await waits('senior_manager')).toEqual(await waits('support_manager'));
      const { requestId, runId, missionId, phase, actionName, requestedBy, requestedAt, deadline, level } = state;
      const facts = { requestId, runId, missionId, phase, actionName, requestedBy, requestedAt, deadline, level };
      expect(await waits('senior_manager')).toEqual([{ ...facts, status: 'PENDING' }]);

      const vote = { approver: 'bob', word: 'approve' as const, roles: ['support_manager'], at: asked };
      const voted = changeOf(state, tail, { votes: [{ ...vote, argsDigest: state.argsDigest }] });
      expect(await store.commit(voted, soon())).toBe('committed');
      expect(await waits('support_manager')).toEqual([]);
      expect(await waits('senior_manager')).toHaveLength(1);

      const later = addSeconds(state.deadline, 3600);
      const director = { asked: ['director'], approvals: [{ role: 'director', count: 2 }], level: 1, deadline: later };
      expect(await store.commit(changeOf(voted.after, voted.entry, director), soon())).toBe('committed');
      expect(await waits('senior_manager')).toEqual([]);
      expect(await waits('director')).toMatchObject([{ level: 1, deadline: later }]);

      const now = await read(store, requestId, runId);
      expect(await store.commit(changeOf(now.state, now.tail, cancelled()), soon())).toBe('committed');
      expect(await waits('director')).toEqual([]);
    });

    test('lists what waits for a role, the earliest deadline first, page by page', async () => {
      const deadlines = [5, 1, 4, 2, 3].map((hours) => addSeconds(asked, hours * 3600));
      for (const deadline of deadlines) await given(store, pendingState({ deadline }));
      const pages = await allPages((cursor) => store.pendingForRole('senior_manager', 2, cursor));
      expect(pages.flat().map(({ deadline }) => deadline)).toEqual(deadlines.sort());
      expect(pages.every((page) => page.length <= 2)).toBe(true);
    });

    test('lists a run, the oldest first, whatever became of its requests', async () => {
      const runId = newId();
      const times = [0, 1, 2, 3, 4].map((seconds) => addSeconds(asked, seconds));
      for (const requestedAt of times) await given(store, pendingState({ runId, requestedAt }));
      await given(store, pendingState());
      const pages = await allPages((cursor) => store.ofRun(runId, 2, cursor));
      expect(pages.flat().map(({ requestedAt }) => requestedAt)).toEqual(times);
      const first = pages.flat()[0]?.requestId ?? '';
      const { state, tail } = await read(store, first, runId);
      await store.commit(changeOf(state, tail, cancelled()), soon());
      expect((await store.ofRun(runId, 1)).items).toMatchObject([{ requestId: first, status: 'CANCELLED' }]);
    });

    test('lists what is closed, the newest first, over days and shards and gaps', async () => {
      const hours = [0, 1, 2, 3, 4, 5, 6, 30, 31, 54, 55, 56, 24 * 50, 24 * 50 + 1];
      const times = hours.map((hour) => addSeconds(asked, -hour * 3600));
      for (const closedAt of times) {
        const { state, tail } = await given(store, pendingState());
        expect(await store.commit(changeOf(state, tail, cancelled('a', closedAt)), soon())).toBe('committed');
      }
      await given(store, pendingState());
      const closed = (await allPages((cursor) => store.closed(asked, 3, cursor))).flat();
      const closedAts = await Promise.all(closed.map(async ({ requestId }) => store.readState(requestId)));
      expect(closedAts.map((state) => state && 'closedAt' in state && state.closedAt)).toEqual(times.slice(1));
      expect(closed[0]).toMatchObject({ status: 'CANCELLED', actionName: 'refund', requestedBy: 'support-bot' });
    });

    test('takes only cursors that the same list handed out', async () => {
      const runId = newId();
      for (const _ of [1, 2]) await given(store, pendingState({ runId }));
      const { cursor = '' } = await store.ofRun(runId, 1);
      const role = await store.pendingForRole('senior_manager', 1);
      const refused = [
        () => store.ofRun(newId(), 1, cursor),
        () => store.ofRun(runId, 1, role.cursor),
        () => store.ofRun(runId, 1, ''),
        () => store.ofRun(runId, 1, `${cursor}x`),
        () => store.pendingForRole('support_manager', 1, role.cursor),
        () => store.pendingForRole('senior_manager', 1, cursor),
        () => store.closed(asked, 1, cursor),
        () => store.closed(asked, 1, 'bnVsbA'),
      ];
      for (const ask of refused) await expect(ask()).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
      expect((await store.ofRun(runId, 1, cursor)).items).toHaveLength(1);
    });

    test('hands out a chain in parts', async () => {
      const runId = newId();
      for (const _ of [1, 2, 3, 4, 5]) await given(store, pendingState({ runId }));
      expect((await store.entries(runId, 1, 3)).map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
      expect((await store.entries(runId, 4, 100)).map(({ sequence }) => sequence)).toEqual([5]);
      expect(await store.entries(runId, 5, 100)).toEqual([]);
    });
  });
}

async function due(store: Store): Promise<string[]> {
  const found: string[] = [];
  for await (const requestId of store.due(asked)) found.push(requestId);
  return found;
}

async function allPages<Item>(ask: (cursor?: string) => Promise<Page<Item>>): Promise<Item[][]> {
  const pages: Item[][] = [];
  let cursor: string | undefined;
  do {
    const page: Page<Item> = await ask(cursor);
    pages.push(page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return pages;
}

/** Sixteen at a time. */
async function inTurn<Item>(items: Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
