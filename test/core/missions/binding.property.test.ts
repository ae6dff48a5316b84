import { expect, test } from 'vitest';
import { addSeconds, type Instant } from '../../../core/instant.ts';
import { boundVersion } from '../../../core/mission-in-force.ts';
import type { PolicyHead } from '../../../core/published-policy.ts';
import { beginning } from '../request-life/world.ts';
import { seededRandom } from '../seeded-random.ts';

const day = 24 * 3600;

interface Published {
  at: Instant;
  force: boolean;
}

/** One mission and one run over a week: what is published, what the run asks, and which version it is told. */
function life(seed: number) {
  const random = seededRandom(seed);
  const published: Published[] = [{ at: beginning, force: false }];
  const asks: { at: Instant; version: number; began: Instant; first: number }[] = [];
  let now = beginning;
  let head: PolicyHead = { newest: 1, digest: '' };
  let run: { policyVersion: string; policySince: Instant } | undefined;
  for (let step = 0; step < 60; step++) {
    now = addSeconds(now, random.below(day / 3));
    if (random.below(3) === 0) {
      const force = random.below(4) === 0;
      published.push({ at: now, force });
      const newest = head.newest + 1;
      head = { ...head, newest, ...(force && { forced: newest }) };
    } else {
      const version = Number(boundVersion(head, run, now) ?? head.newest);
      run = { policyVersion: String(version), policySince: run?.policySince ?? now };
      asks.push({ at: now, version, began: run.policySince, first: asks[0]?.version ?? version });
    }
  }
  return { published, asks };
}

test('for 400 weeks: a version binds at once by force and within a day without; until then a run keeps its own; none goes back', () => {
  let kept = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const { published, asks } = life(seed);
    let before = 0;
    for (const { at, version, began, first } of asks) {
      const known = published.map((one, index) => ({ ...one, number: index + 1 })).filter((one) => one.at <= at);
      const binding = known.filter(({ at: since, force }) => force || addSeconds(since, day) <= at);
      expect(version).toBeGreaterThanOrEqual(Math.max(1, ...binding.map(({ number }) => number)));
      expect(version).toBeGreaterThanOrEqual(before);
      const forcedSince = known.some(({ number, force }) => force && number > first);
      if (at < addSeconds(began, day) && !forcedSince) {
        expect(version).toBe(first);
        if (known.length > first) kept += 1;
      }
      before = version;
    }
  }
  expect(kept).toBeGreaterThan(200);
});
