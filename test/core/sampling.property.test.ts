import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { drawAt } from '../../core/sampling.ts';
import { seededRandom } from './seeded-random.ts';

const source = { runId: 'run-1', requestId: 'r', previousHash: 'genesis', textsDigest: 'sha256:00' };

describe('100 000 draws', () => {
  test.each([0.05, 0.15, 0.5])(
    'at the rate %d: as many are drawn as chance allows (five sigma), whatever the agent chooses',
    (rate) => {
      const random = seededRandom(Math.round(rate * 1000));
      const count = 100_000;
      let drawn = 0;
      for (let n = 0; n < count; n++) {
        const salted = createHash('sha256').update(`${random.next()}/${n}`).digest('hex');
        if (drawAt(rate, { ...source, requestId: `chosen-${n}`, textsDigest: `sha256:${salted}` }).sampled) drawn += 1;
      }
      const sigma = Math.sqrt(count * rate * (1 - rate));
      expect(Math.abs(drawn - count * rate)).toBeLessThan(5 * sigma);
      expect(drawn).toBeGreaterThan(0);
    },
  );
});
