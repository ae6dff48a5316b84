import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Action, actionContent } from '../../../core/action.ts';
import { genesis, hashOfEntry, openEntry, sealEntry } from '../../../core/audit-chain.ts';
import { digestOf } from '../../../core/canonical-json.ts';
import { parseStrict } from '../../../core/strict-json.ts';
import { digestsIn, emptyReading, readOn } from '../../../core/verification.ts';

const vectors = (file: string): string => readFileSync(new URL(`../../vectors/${file}`, import.meta.url), 'utf8');

interface ActionVector {
  name: string;
  action: Action;
  canonical: string;
  argsDigest: string;
}
interface ChainVector {
  runId: string;
  entries: { sequence: number; canonical: string; hash: string }[];
  contents: Record<string, string>;
}

/** What is stored somewhere has these bytes. A failure here means that nobody can verify it any more: never change a vector. */
describe('frozen vectors', () => {
  const actions: ActionVector[] = JSON.parse(vectors('args-digest.json'));
  const { runId, entries, contents }: ChainVector = JSON.parse(vectors('audit-chain.json'));

  test.each(actions.map((vector) => [vector.name, vector] as const))('argsDigest: %s', (_, vector) => {
    expect(actionContent(vector.action)).toEqual({ digest: vector.argsDigest, canonical: vector.canonical });
    const sha256 = createHash('sha256').update(vector.canonical, 'utf8').digest('hex');
    expect(vector.argsDigest).toBe(`sha256:${sha256}`);
  });

  test('CASE 11: the order of the members makes no difference, everything else does', () => {
    const { action, argsDigest } = actions[0] as ActionVector;
    const reversed = Object.fromEntries(Object.entries(action.actionArgs).reverse());
    expect(Object.keys(reversed)).not.toEqual(Object.keys(action.actionArgs));
    expect(actionContent({ ...action, actionArgs: reversed }).digest).toBe(argsDigest);
    for (const other of [
      { ...action, actionName: 'Send_customer_email' },
      { ...action, phase: 'after' as const },
      { ...action, sourceAgent: '' },
      { ...action, actionArgs: { ...action.actionArgs, to: 'ann@example.org ' } },
    ])
      expect(actionContent(other).digest).not.toBe(argsDigest);
  });

  test.each([
    ['1.0', '1'],
    ['1e3', '1000'],
    ['-0', '0'],
    ['0.1', '0.1'],
    ['10E-1', '1'],
  ])('CASE 18: the number %s is stored, shown and hashed as %s', (sent, kept) => {
    const actionArgs = parseStrict(`{"n":${sent}}`) as { n: number };
    const { canonical } = actionContent({ actionName: 'a', actionArgs, phase: 'before' });
    expect(canonical).toBe(`{"actionArgs":{"n":${kept}},"actionName":"a","phase":"before"}`);
  });

  test('the chain: each hash, each link, each content', () => {
    let previousHash = genesis;
    for (const [index, { sequence, canonical, hash }] of entries.entries()) {
      const bytes = `countersign/audit-entry/v1\n${canonical}`;
      expect(createHash('sha256').update(bytes, 'utf8').digest('hex')).toBe(hash);
      expect(hashOfEntry(canonical)).toBe(hash);
      const { hash: _, canonical: __, ...unsealed } = openEntry({ canonical, hash });
      expect(sealEntry(unsealed)).toMatchObject({ hash, canonical, sequence: index + 1, previousHash });
      expect(sequence).toBe(index + 1);
      for (const digest of digestsIn(unsealed)) expect(digestOf(contents[digest] ?? '')).toBe(digest);
      previousHash = hash;
    }
    const reading = entries.reduce((so, entry) => readOn(so, runId, { runId, ...entry }), emptyReading());
    expect(reading).toMatchObject({ sequence: 5, hash: previousHash });
    expect(reading.fault).toBeUndefined();
  });

  test('planted fault: without the prefix, or over other bytes of the same JSON, no hash holds', () => {
    for (const { canonical, hash } of entries) {
      expect(createHash('sha256').update(canonical, 'utf8').digest('hex')).not.toBe(hash);
      expect(hashOfEntry(JSON.stringify(JSON.parse(canonical), null, 1))).not.toBe(hash);
    }
  });
});
