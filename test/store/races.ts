import { expect } from 'vitest';
import type { AuditStore, RequestStore } from '../../core/ports.ts';
import { cancelled, changeOf, creationOf, given, newId, pendingState, soon } from './requests.ts';

/** Each begins from one reading and lets everybody write at once. A store that reads, compares and then writes fails here. */

export async function oneOfManyCreatesWins(store: RequestStore): Promise<void> {
  const requestId = newId();
  const creates = Array.from({ length: 64 }, () => creationOf(pendingState({ requestId })));
  const results = await Promise.all(creates.map((change) => store.commit(change, soon())));
  expect(results.filter((result) => result === 'committed')).toHaveLength(1);
  const winner = creates[results.indexOf('committed')];
  expect(await store.readState(requestId)).toEqual(winner?.after);
}

export async function oneOfManyDecidersWins(store: RequestStore & AuditStore): Promise<void> {
  const { state, tail } = await given(store, pendingState());
  const deciders = Array.from({ length: 50 }, (_, index) => `person-${index}`);
  const decisions = deciders.map((person) => changeOf(state, tail, cancelled(person), undefined, person));
  const results = await Promise.all(decisions.map((change) => store.commit(change, soon())));
  expect(results.filter((result) => result === 'committed')).toHaveLength(1);
  expect(await store.readState(state.requestId)).toMatchObject({
    cancelledBy: deciders[results.indexOf('committed')],
    version: 2,
  });
  expect(await store.entries(state.runId, 0, 100)).toHaveLength(2);
}

/** CASE 55 at the store: whoever loses reads again and tries again, and the chain has neither gap nor fork. */
export async function theChainNeitherForksNorBreaks(store: RequestStore & AuditStore): Promise<void> {
  const runId = newId();
  const create = async (): Promise<void> => {
    const tail = await store.readTail(runId);
    if ((await store.commit(creationOf(pendingState({ runId }), tail), soon())) === 'conflict') await create();
  };
  await Promise.all(Array.from({ length: 24 }, create));
  const chain = await store.entries(runId, 0, 100);
  expect(chain.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
  expect(chain.slice(1).map(({ canonical }) => JSON.parse(canonical).previousHash)).toEqual(
    chain.slice(0, -1).map(({ hash }) => hash),
  );
}

/** Even where two say the very same, byte for byte: who is told `committed` did it. */
export async function oneOfManyTwinsWins(store: RequestStore): Promise<void> {
  const twin = creationOf(pendingState());
  const results = await Promise.all(Array.from({ length: 8 }, () => store.commit(twin, soon())));
  expect(results.filter((result) => result === 'committed')).toHaveLength(1);
}
