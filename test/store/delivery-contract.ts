import { expect, test } from 'vitest';
import { addSeconds } from '../../core/instant.ts';
import type { DeliveryStore, RequestStore } from '../../core/ports.ts';
import { asked, cancelled, changeOf, creationOf, given, newId, owedTo, pendingState, soon } from './requests.ts';

const senior = 'asked-0-senior_manager';
const support = 'asked-0-support_manager';

/** What moves beside the decisions and never over them. `current` is the store of the test that runs. */
export function deliveryContract(current: () => DeliveryStore & RequestStore): void {
  test('counts late attempts beside any change', async () => {
    const store = current();
    const { state, tail } = await given(store, pendingState({ lateAttempts: { alice: 1 } }));
    await Promise.all(Array.from({ length: 5 }, () => store.countLateAttempt(state.requestId, 'alice')));
    expect(await store.commit(changeOf(state, tail, { lateAttempts: { alice: 1, bob: 1 } }), soon())).toBe('committed');
    expect((await store.readState(state.requestId))?.lateAttempts).toEqual({ alice: 6, bob: 1 });
    const unknown = newId();
    await store.countLateAttempt(unknown, 'alice');
    expect(await store.readRequest(unknown)).toBeUndefined();
  });

  test('a decision on a stale reading brings no delivery back and loses none', async () => {
    const store = current();
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
    const store = current();
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
    const store = current();
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
    const store = current();
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
    const store = current();
    const states = Array.from({ length: 450 }, () => pendingState());
    const notYet = [pendingState({ wakeAt: addSeconds(asked, 1) }), pendingState({ wakeAt: undefined })];
    await inTurn([...states, ...notYet], async (state) => {
      expect(await store.commit(creationOf(state), soon())).toBe('committed');
    });
    const found = await due(store);
    expect(found.length).toBe(450);
    expect(new Set(found)).toEqual(new Set(states.map(({ requestId }) => requestId)));
  });
}

/** Everything that is due, over all pages. */
export async function due(store: DeliveryStore): Promise<string[]> {
  const found: string[] = [];
  for await (const requestId of store.due(asked)) found.push(requestId);
  return found;
}

/** Sixteen at a time. */
async function inTurn<Item>(items: Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
