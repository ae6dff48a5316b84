import { describe, expect, test } from 'vitest';
import type { Counter, CounterMove } from '../../core/counter.ts';
import { sumOf } from '../../core/exact-decimal.ts';
import type { Move } from '../../core/move.ts';
import type { PrecedentStore, RequestStore } from '../../core/ports.ts';
import { seededRandom } from '../core/seeded-random.ts';
import { precedentOf } from './moves-contract.ts';
import { creationOf, newId, pendingState, soon } from './requests.ts';

const add = (counter: string, more: Partial<Extract<CounterMove, { does: 'add' }>> = {}): CounterMove => ({
  kind: 'counter',
  counter,
  does: 'add',
  seen: 0,
  keepSeconds: 60,
  bucket: 60,
  amount: '90',
  count: 1,
  forget: [],
  ...more,
});

/** What every store does with counters. */
export function countersContract(store: () => RequestStore & PrecedentStore): void {
  const make = (...moves: CounterMove[]) => store().commit({ ...creationOf(pendingState()), moves }, soon());
  const read = async (counter: string): Promise<Counter | undefined> =>
    (await store().readCounters([counter])).get(counter);
  const sums = (counter: Counter | undefined) => sumOf(...(counter?.buckets ?? []).map(({ sum }) => sum));

  describe('counters', () => {
    test('are read together, those that there are', async () => {
      const [one, other, none] = [newId(), newId(), newId()];
      expect(await store().readCounters([])).toEqual(new Map());
      await make(add(one, { amount: '0.1' }), { kind: 'counter', counter: other, does: 'enter', atMost: 1 });
      const found = await store().readCounters([one, none, other]);
      const bucket = { end: 60, sum: '0.1', count: 1 };
      expect(found.get(one)).toEqual({ version: 1, keepSeconds: 60, buckets: [bucket], pending: 0 });
      expect(found.get(other)).toEqual({ version: 0, keepSeconds: 0, buckets: [], pending: 1 });
      expect([...found.keys()].sort()).toEqual([one, other].sort());
    });

    test('are read with a precedent in one read', async () => {
      const counter = newId();
      const precedent = precedentOf(newId());
      const place = { missionId: precedent.missionId, precedentId: precedent.precedentId };
      const none = await store().readCountersAndPrecedent([counter], place);
      expect([none.counters.size, none.precedent]).toEqual([0, undefined]);
      const moves: Move[] = [add(counter), { kind: 'precedent', precedent }];
      expect(await store().commit({ ...creationOf(pendingState()), moves }, soon())).toBe('committed');
      const found = await store().readCountersAndPrecedent([counter], place);
      expect(found.precedent).toEqual(precedent);
      expect(found.counters).toEqual(await store().readCounters([counter]));
    });

    test('sum decimals exactly, whatever their size', async () => {
      const counter = newId();
      const amounts = ['0.1', '0.2', '999999999999999', '0.000000000000001', '1234567890.123456789012345'];
      for (const [seen, amount] of amounts.entries())
        expect(await make(add(counter, { seen, amount }))).toBe('committed');
      expect(sums(await read(counter))).toBe('1000001234567889.423456789012346');
      for (const amount of amounts)
        await make({ kind: 'counter', counter, does: 'take', bucket: 60, amount, count: 1 });
      expect((await read(counter))?.buckets).toEqual([{ end: 60, sum: '0', count: 0 }]);
    });

    test('of many who add to what they read one wins, and nothing of the others is written', async () => {
      const counter = newId();
      const results = await Promise.all(Array.from({ length: 12 }, () => make(add(counter))));
      expect(results.filter((result) => result === 'committed')).toHaveLength(1);
      expect(results.filter((result) => result === 'conflict')).toHaveLength(11);
      expect(await read(counter)).toMatchObject({ version: 1, buckets: [{ sum: '90', count: 1 }] });
      expect(await make(add(counter))).toBe('conflict');
      expect(await make(add(counter, { seen: 1 }))).toBe('committed');
    });

    test('what is taken needs no look, and refuses nobody who adds', async () => {
      const counter = newId();
      await make(add(counter, { amount: '500' }));
      const takes = Array.from({ length: 8 }, () =>
        make({ kind: 'counter', counter, does: 'take', bucket: 60, amount: '50.5', count: 0 }),
      );
      expect([...(await Promise.all(takes)), await make(add(counter, { seen: 1, amount: '1' }))]).toEqual(
        Array(9).fill('committed'),
      );
      expect((await read(counter))?.buckets).toEqual([{ end: 60, sum: '97', count: 2 }]);
    });

    test('forget the buckets that are named, and no other', async () => {
      const counter = newId();
      for (let seen = 0; seen < 70; seen++) await make(add(counter, { seen, bucket: 60 * (seen + 1) }));
      const forget = Array.from({ length: 68 }, (_, index) => 60 * (index + 1));
      expect(await make(add(counter, { seen: 70, bucket: 70 * 60, forget }))).toBe('committed');
      expect((await read(counter))?.buckets).toEqual([
        { end: 69 * 60, sum: '90', count: 1 },
        { end: 70 * 60, sum: '180', count: 2 },
      ]);
    });

    test('a cap lets in so many at once, and one more for each that leaves', async () => {
      const counter = newId();
      const enter = () => make({ kind: 'counter', counter, does: 'enter', atMost: 3 });
      const results = await Promise.all(Array.from({ length: 10 }, enter));
      expect(results.filter((result) => result === 'committed')).toHaveLength(3);
      await make({ kind: 'counter', counter, does: 'leave' });
      expect([await enter(), await enter()]).toEqual(['committed', 'conflict']);
      expect((await read(counter))?.pending).toBe(3);
    });

    test('a place is held by one, named to the others, and free when it is let go', async () => {
      const counter = newId();
      const hold = (requestId: string) => make({ kind: 'counter', counter, does: 'hold', requestId });
      const isFree = () => make({ kind: 'counter', counter, does: 'checkFree' });
      expect(await isFree()).toBe('committed');
      expect([await hold('one'), await hold('two'), await isFree()]).toEqual(['committed', 'conflict', 'conflict']);
      expect((await read(counter))?.heldBy).toBe('one');
      await make({ kind: 'counter', counter, does: 'letGo' });
      expect([await isFree(), await hold('two')]).toEqual(['committed', 'committed']);
    });

    test('under any moves they hold what a recount says', async () => {
      const random = seededRandom(7);
      const counter = newId();
      const held: { bucket: number; amount: string }[] = [];
      for (let step = 0; step < 60; step++) {
        const seen = (await read(counter))?.version ?? 0;
        if (held.length > 0 && random.below(3) === 0) {
          const [{ bucket, amount } = { bucket: 0, amount: '0' }] = held.splice(random.below(held.length), 1);
          await make({ kind: 'counter', counter, does: 'take', bucket, amount, count: 1 });
        } else {
          const amount = `${random.below(1000)}.${1 + random.below(99)}`.replace(/0$/, '');
          const bucket = 60 * (1 + random.below(4));
          held.push({ bucket, amount });
          expect(await make(add(counter, { seen, bucket, amount }))).toBe('committed');
        }
        for (const { end, sum, count } of (await read(counter))?.buckets ?? []) {
          const own = held.filter(({ bucket }) => bucket === end);
          expect({ end, sum, count }).toEqual({
            end,
            sum: sumOf(...own.map(({ amount }) => amount)),
            count: own.length,
          });
        }
      }
    });
  });
}
