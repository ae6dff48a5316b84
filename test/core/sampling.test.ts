import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { drawAt, drawOf, sampleRateOf } from '../../core/sampling.ts';

const source = { runId: 'run-1', requestId: 'r', previousHash: 'genesis', textsDigest: 'sha256:00' };

describe('a draw', () => {
  test('is what anybody computes from the entry with SHA-256 and nothing else', () => {
    const text = 'countersign/sample-draw/v1\n["run-1","r","genesis","sha256:00"]';
    const bits = createHash('sha256').update(text).digest().readBigUInt64BE() >> 12n;
    expect(drawOf(source)).toBe(Number(bits) / 2 ** 52);
  });

  test('is frozen', () => {
    expect(drawOf(source)).toBe(0.09037903363006894);
  });

  test.each(['runId', 'requestId', 'previousHash', 'textsDigest'])('changes with %s', (member) => {
    expect(drawOf({ ...source, [member]: 'other' })).not.toBe(drawOf(source));
  });

  test('is below 1 and never below 0, and at the rates 0 and 1 there is no chance in it', () => {
    for (let n = 0; n < 10_000; n++) {
      const one = { ...source, requestId: String(n) };
      expect(drawAt(1, one).sampled).toBe(true);
      expect(drawAt(0, one).sampled).toBe(false);
      expect(drawOf(one)).toBeGreaterThanOrEqual(0);
      expect(drawOf(one)).toBeLessThan(1);
    }
  });
});

describe('the rate', () => {
  const sampling = { policy: 'sampling', sampleRate: 0.2 } as const;
  test.each([
    ['as the policy says', sampling, { novel: false }, 0.2],
    ['as it says for a sure agent', sampling, { confidence: 0.7, novel: false }, 0.2],
    ['three times it for an unsure one', sampling, { confidence: 0.69, novel: false }, 3 * 0.2],
    ['at most 1', { ...sampling, sampleRate: 0.5 }, { confidence: 0, novel: false }, 1],
    ['0 stays 0', { ...sampling, sampleRate: 0 }, { confidence: 0, novel: false }, 0],
    ['always for a novel one', { policy: 'approval_novel' } as const, { confidence: 1, novel: true }, 1],
    ['none where nothing is reviewed', { policy: 'autonomous' } as const, { novel: false }, undefined],
    ['none for what is known', { policy: 'approval_novel' } as const, { novel: false }, undefined],
  ])('is %s', (_, policy, facts, rate) => {
    expect(sampleRateOf(policy, facts)).toBe(rate);
  });
});
