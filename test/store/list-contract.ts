import { expect, test } from 'vitest';
import { addSeconds } from '../../core/instant.ts';
import type { AuditStore, Page, RequestLists, RequestStore } from '../../core/ports.ts';
import { asked, cancelled, changeOf, given, newId, pendingState, read, soon } from './requests.ts';

/** Lists and chains, page by page. `current` is the store of the test that runs. */
export function listContract(current: () => RequestLists & RequestStore & AuditStore): void {
  test('CASE 6: who is still asked follows every change', async () => {
    const store = current();
    const { state, tail } = await given(store, pendingState());
    const waits = async (role: string) => (await store.pendingForRole(role, 10)).items;
    expect(await waits('senior_manager')).toEqual(await waits('support_manager'));
    const { requestId, runId, missionId, phase, actionName, missionRoles, requestedBy, requestedAt, deadline, level } =
      state;
    const facts = {
      requestId,
      runId,
      missionId,
      phase,
      actionName,
      missionRoles,
      requestedBy,
      requestedAt,
      deadline,
      level,
    };
    expect(await waits('senior_manager')).toEqual([{ ...facts, asked: state.asked, status: 'PENDING' }]);

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
    const store = current();
    const deadlines = [5, 1, 4, 2, 3].map((hours) => addSeconds(asked, hours * 3600));
    for (const deadline of deadlines) await given(store, pendingState({ deadline }));
    const pages = await allPages((cursor) => store.pendingForRole('senior_manager', 2, cursor));
    expect(pages.flat().map(({ deadline }) => deadline)).toEqual(deadlines.sort());
    expect(pages.every((page) => page.length <= 2)).toBe(true);
  });

  test('lists what waits for any of several roles, each once, the earliest deadline first over all pages', async () => {
    const store = current();
    const finance = [{ role: 'finance', count: 1 }];
    const both = [...finance, { role: 'security', count: 1 }];
    const wanted = [finance, both, both, finance, both, both, finance];
    const hours = [3, 1, 1, 1, 1, 4, 2];
    for (const [index, approvals] of wanted.entries())
      await given(
        store,
        pendingState({
          approvals,
          asked: approvals.map(({ role }) => role),
          deadline: addSeconds(asked, (hours[index] ?? 0) * 3600),
        }),
      );
    await given(store, pendingState());
    for (const limit of [1, 2, 3, 10]) {
      const pages = await allPages((cursor) => store.pendingForRoles(['finance', 'security', 'nobody'], limit, cursor));
      expect(pages.every((page) => page.length <= limit)).toBe(true);
      expect(pages.flat().map(({ deadline }) => deadline)).toEqual(
        hours.toSorted().map((hour) => addSeconds(asked, hour * 3600)),
      );
      expect(new Set(pages.flat().map(({ requestId }) => requestId)).size).toBe(hours.length);
    }
    expect(await store.pendingForRoles(['nobody'], 10)).toEqual({ items: [] });
    expect(await store.pendingForRoles([], 10)).toEqual({ items: [] });
  });

  test('lists a run, the oldest first, whatever became of its requests', async () => {
    const store = current();
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
    const store = current();
    const hours = [0, 1, 2, 3, 4, 5, 6, 30, 31, 54, 55, 56, 24 * 50, 24 * 50 + 1];
    const before = '2026-03-01T10:00:00.000Z';
    const times = hours.map((hour) => addSeconds(before, -hour * 3600));
    for (const closedAt of times) {
      const { state, tail } = await given(store, pendingState());
      expect(await store.commit(changeOf(state, tail, cancelled('a', closedAt)), soon())).toBe('committed');
    }
    await given(store, pendingState());
    for (const limit of [3, 5]) {
      const closed = (await allPages((cursor) => store.closed(before, limit, cursor))).flat();
      const states = await Promise.all(closed.map(({ requestId }) => store.readState(requestId)));
      expect(states.map((state) => state && 'closedAt' in state && state.closedAt)).toEqual(times.slice(1));
      expect(closed[0]).toMatchObject({ status: 'CANCELLED', actionName: 'refund', requestedBy: 'support-bot' });
    }
  });

  test('takes only cursors that the same list handed out', async () => {
    const store = current();
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
    const store = current();
    const runId = newId();
    for (const _ of [1, 2, 3, 4, 5]) await given(store, pendingState({ runId }));
    expect((await store.entries(runId, 1, 3)).map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
    expect((await store.entries(runId, 4, 100)).map(({ sequence }) => sequence)).toEqual([5]);
    expect(await store.entries(runId, 5, 100)).toEqual([]);
  });
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
