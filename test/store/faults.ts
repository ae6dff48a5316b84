import { expect } from 'vitest';
import type { Store } from './contract.ts';
import { changeOf, creationOf, given, pendingState, soon } from './requests.ts';

/** CASE 59: whatever goes wrong on the way, a change ends exactly once and its author hears so. */
export async function changesEndExactlyOnce(store: Store): Promise<void> {
  const change = creationOf(pendingState());
  expect(await store.commit(change, soon())).toBe('committed');
  const vote = changeOf(change.after, change.entry, { editors: ['alice'] });
  expect(await store.commit(vote, soon())).toBe('committed');
  expect(await store.readState(change.after.requestId)).toEqual(vote.after);
  expect((await store.entries(change.entry.runId, 0, 10)).map(({ hash }) => hash)).toEqual([
    change.entry.hash,
    vote.entry.hash,
  ]);
}

/** The same, where somebody else was first: a loser is never told that it has won. */
export async function losersHearThatTheyLost(store: Store, hostile: Store): Promise<void> {
  const { state, tail } = await given(store, pendingState());
  expect(await store.commit(changeOf(state, tail, { editors: ['alice'] }), soon())).toBe('committed');
  expect(await hostile.commit(changeOf(state, tail, { editors: ['bob'] }), soon())).toBe('conflict');
  expect((await store.readState(state.requestId))?.editors).toEqual(['alice']);
}
