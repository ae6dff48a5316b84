import { describe, expect, test } from 'vitest';
import type { QuorumRole } from '../../../core/policy.ts';
import { fillPlaces, missingVotes, quorumMet, votesGiven } from '../../../core/quorum.ts';
import { requestPage } from '../../../web/request-page.ts';
import { seededRandom } from '../seeded-random.ts';
import { Desk, people } from './desk.ts';

interface Ballot {
  approver: string;
  roles: string[];
}

/** The most places that can be filled, by trying every way of giving each voter a place or none. */
function mostPlaces(places: readonly string[], [first, ...others]: readonly Ballot[]): number {
  if (!first) return 0;
  const with_ = places.flatMap((role, index) =>
    first.roles.includes(role) ? [1 + mostPlaces(places.toSpliced(index, 1), others)] : [],
  );
  return Math.max(mostPlaces(places, others), ...with_);
}

const placesOf = (approvals: readonly QuorumRole[]): string[] =>
  approvals.flatMap(({ role, count }) => Array<string>(count).fill(role));

function randomCase(seed: number): { approvals: QuorumRole[]; votes: Ballot[] } {
  const random = seededRandom(seed);
  const roles = ['a', 'b', 'c', 'd'].slice(0, 1 + random.below(4));
  const approvals = roles.map((role) => ({ role, count: 1 + random.below(2) }));
  const votes = Array.from({ length: random.below(6) }, (_, index) => ({
    approver: `person-${index}`,
    roles: roles.filter(() => random.next() < 0.5),
  }));
  return { approvals, votes };
}

/** Gives each vote the first open place: what a quorum must not do. */
function firstComeFirstServed(places: readonly string[], votes: readonly Ballot[]): number {
  const open = [...places];
  return votes.filter(({ roles }) => {
    const index = open.findIndex((role) => roles.includes(role));
    if (index >= 0) open.splice(index, 1);
    return index >= 0;
  }).length;
}

describe('quorum', () => {
  const cases = Array.from({ length: 600 }, (_, seed) => randomCase(seed));

  test('fills as many places as any assignment can, nobody twice, everybody for a role they hold', () => {
    for (const [seed, { approvals, votes }] of cases.entries()) {
      const filled = fillPlaces(approvals, votes).filter(({ approver }) => approver !== undefined);
      const most = mostPlaces(placesOf(approvals), votes);
      expect(filled.length, `seed ${seed}`).toBe(most);
      expect(new Set(filled.map(({ approver }) => approver)).size).toBe(filled.length);
      for (const { role, approver } of filled)
        expect(votes.find((vote) => vote.approver === approver)?.roles).toContain(role);
      expect(quorumMet(approvals, votes)).toBe(most === placesOf(approvals).length);
      const missing = missingVotes(approvals, votes).reduce((sum, { count }) => sum + count, 0);
      expect(missing).toBe(placesOf(approvals).length - most);
    }
  });

  test('the brute force tells a quorum that takes the first open place from one that is right', () => {
    const wrong = cases.filter(
      ({ approvals, votes }) =>
        firstComeFirstServed(placesOf(approvals), votes) !== mostPlaces(placesOf(approvals), votes),
    );
    expect(wrong.length).toBeGreaterThan(10);
  });

  test('given the same person twice, then it counts once', () => {
    const twice = [
      { approver: 'alice', roles: ['a'] },
      { approver: 'alice', roles: ['a'] },
    ];
    expect(quorumMet([{ role: 'a', count: 2 }], twice)).toBe(false);
  });
});

test('given two votes of finance where one of finance and one of security are needed, then one of two is given', async () => {
  const desk = new Desk();
  const { requestId } = (await desk.ask('pay')).state;
  await desk.vote(requestId, people.fay, 'approve');
  const state = await desk.vote(requestId, people.fred, 'approve');
  expect(votesGiven(state)).toEqual({ given: 1, needed: 2 });
  const page = String(
    await requestPage({ request: await desk.read(requestId), person: people.sue, now: desk.world.now() }),
  );
  expect(page).toContain('1 of 2 approvals given. Still needed: 1 × security.');
});
