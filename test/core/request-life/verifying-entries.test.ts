import { describe, expect, test } from 'vitest';
import { hashOfEntry, openEntry, sealEntry } from '../../../core/audit-chain.ts';
import { canonicalJson } from '../../../core/canonical-json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { StoredEntry } from '../../../core/ports.ts';
import { verifyRun } from '../../../core/use-cases/verify-run.ts';
import { emptyReading, readOn } from '../../../core/verification.ts';
import { alteredStore } from './altered-store.ts';
import { Desk, people, refusal } from './desk.ts';
import { paidRefund } from './paid-refund.ts';

const { desk, refund, mail } = await paidRefund();

const verifyWith = (alteration: Parameters<typeof alteredStore>[1]) =>
  verifyRun({ store: alteredStore(desk.store, alteration) }, { runId: 'run-1' });

const at = (all: StoredEntry[], sequence: number): StoredEntry => all[sequence - 1] as StoredEntry;
const withEntry = (all: StoredEntry[], sequence: number, change: Partial<StoredEntry>) =>
  all.with(sequence - 1, { ...at(all, sequence), ...change });
/** The entry as somebody who knows how would seal it after a change. */
const resealed = (entry: StoredEntry, change: JsonObject): StoredEntry => {
  const canonical = canonicalJson({ ...JSON.parse(entry.canonical), ...change });
  return {
    ...entry,
    canonical,
    hash: hashOfEntry(canonical),
    ...(change.sequence !== undefined ? { sequence: Number(change.sequence) } : {}),
  };
};
const onTop = (all: StoredEntry[], change: JsonObject) => {
  const last = at(all, all.length);
  return [...all, resealed(last, { sequence: all.length + 1, previousHash: last.hash, ...change })];
};
describe('CASE 56: verification of the entries', () => {
  test('given nothing was touched, then it is intact, with its head', async () => {
    const last = (await desk.store.entries('run-1', 6, 1))[0];
    expect(await desk.verify()).toMatchObject({ intact: true, entries: 7, head: { sequence: 7, hash: last?.hash } });
    expect(await desk.verify()).not.toHaveProperty('brokenAt');
  });

  test.each<[string, number, RegExp, (all: StoredEntry[]) => StoredEntry[]]>([
    [
      'one entry changed',
      3,
      /does not match its hash/,
      (all) => withEntry(all, 3, { canonical: at(all, 3).canonical.replace('alice', 'mallo') }),
    ],
    ['one hash changed', 3, /does not match its hash/, (all) => withEntry(all, 3, { hash: at(all, 4).hash })],
    [
      'one entry changed and sealed again',
      4,
      /does not follow/,
      (all) => all.with(2, resealed(at(all, 3), { at: '2026-01-01T00:00:00.000Z' })),
    ],
    [
      'the last entry changed and sealed again',
      7,
      /not the entry that request/,
      (all) => all.with(6, resealed(at(all, 7), { at: '2026-01-01T00:00:00.000Z' })),
    ],
    ['one entry removed', 3, /entry 3 is missing/, (all) => all.toSpliced(2, 1)],
    ['the first entry removed', 1, /entry 1 is missing/, (all) => all.slice(1)],
    [
      'one entry removed and the others moved up',
      3,
      /sealed as entry 4/,
      (all) => all.toSpliced(2, 1).map((entry, index) => ({ ...entry, sequence: index + 1 })),
    ],
    [
      'two entries swapped',
      3,
      /sealed as entry 4/,
      (all) => all.with(2, { ...at(all, 4), sequence: 3 }).with(3, { ...at(all, 3), sequence: 4 }),
    ],
    ['an entry added that repeats another', 8, /sealed as entry 7/, (all) => [...all, { ...at(all, 7), sequence: 8 }]],
    ['an entry added and sealed', 8, /it was added/, (all) => onTop(all, {})],
    ['an entry added about another request', 8, /it was added/, (all) => onTop(all, { requestId: mail })],
    [
      'an entry added about a request that is not there',
      8,
      /which does not exist/,
      (all) =>
        onTop(all, {
          ...JSON.parse(at(all, 1).canonical),
          sequence: 8,
          previousHash: at(all, 7).hash,
          requestId: 'none',
        }),
    ],
    [
      'an entry added about no request',
      8,
      /about no request/,
      (all) => {
        const { requestId: _, ...rest } = JSON.parse(at(all, 7).canonical);
        const canonical = canonicalJson({ ...rest, sequence: 8, previousHash: at(all, 7).hash });
        return [...all, { ...at(all, 7), sequence: 8, canonical, hash: hashOfEntry(canonical) }];
      },
    ],
    [
      'text that is no entry, with its hash',
      3,
      /not that of an entry/,
      (all) => withEntry(all, 3, { canonical: 'null', hash: hashOfEntry('null') }),
    ],
    [
      'an entry of another run',
      3,
      /belongs to the run run-2/,
      (all) => all.with(2, resealed(at(all, 3), { runId: 'run-2' })),
    ],
    ...[0, -1].map((sequence): [string, number, RegExp, (all: StoredEntry[]) => StoredEntry[]] => [
      `an entry added with the number ${sequence}`,
      1,
      /an entry .*, which was added/,
      (all) => [resealed({ ...at(all, 1), sequence }, { sequence, previousHash: 'genesis' }), ...all],
    ]),
    ['the tail cut by one', 7, /tail was cut/, (all) => all.slice(0, 6)],
    ['the tail cut by five', 3, /tail was cut/, (all) => all.slice(0, 2)],
    ['the table empty', 1, /tail was cut/, () => []],
  ])('given %s, then it is broken at %i', async (_, brokenAt, reason, entries) => {
    const result = await verifyWith({ entries });
    expect(result).toMatchObject({ intact: false, brokenAt });
    expect(result.reason).toMatch(reason);
  });

  test('given several faults, then the first place is named', async () => {
    const result = await verifyWith({ entries: (all) => all.toSpliced(4, 1).with(1, { ...at(all, 2), hash: 'x' }) });
    expect(result).toMatchObject({ intact: false, brokenAt: 2, head: { sequence: 1 } });
  });

  test('given a request that the index of the run hides, then a cut tail shows all the same', async () => {
    expect(await verifyWith({ unlisted: [refund] })).toMatchObject({ intact: true });
    expect(await verifyWith({ unlisted: [refund, mail], entries: (all) => all.slice(0, 6) })).toMatchObject({
      intact: false,
      brokenAt: 7,
    });
  });

  test('given a change between reading the states and the entries, then it is no fault', async () => {
    const running = new Desk();
    const { requestId } = (await running.ask('refund')).state;
    const store = alteredStore(running.store, {});
    const { entries } = store;
    let before = [
      () => running.vote(requestId, people.alice, 'approve'),
      () => running.ask('send'),
    ] as (() => Promise<unknown>)[];
    store.entries = async (...given) => {
      const [first, ...others] = before;
      before = others;
      await first?.();
      return entries(...given);
    };
    expect(await verifyRun({ store }, { runId: 'run-1' })).toMatchObject({ intact: true, entries: 2 });
    expect(await verifyRun({ store }, { runId: 'run-1' })).toMatchObject({ intact: true, entries: 3 });
  });

  test('given a run of which nothing is stored, then NOT_FOUND', async () => {
    await refusal(desk.verify('run-9'), 'NOT_FOUND');
  });

  test('planted fault: a verification of the entries alone, without the last entry of each request, misses the cut tail', async () => {
    const cut = (await desk.store.entries('run-1', 0, 100)).slice(0, 5);
    const reading = cut.reduce((so, entry) => readOn(so, 'run-1', entry), emptyReading());
    expect(reading.fault).toBeUndefined();
    expect(await verifyWith({ entries: () => cut })).toMatchObject({ intact: false, brokenAt: 6 });
  });

  test('given an entry, then opening and sealing it again is the same', async () => {
    for (const stored of await desk.store.entries('run-1', 0, 100)) {
      const { hash, canonical, ...entry } = openEntry(stored);
      expect(sealEntry(entry)).toMatchObject({ hash, canonical });
    }
  });
});
