import type { QuorumRole } from './policy.ts';
import type { RequestState, Vote } from './request.ts';

type Approval = Pick<Vote, 'approver' | 'roles'>;

/** The approvals that count: given to exactly what would run now, and after the last edit; what an edit voided stays void when a later one goes back. */
export const countingApprovals = ({
  votes,
  effectiveDigest,
}: Pick<RequestState, 'votes' | 'effectiveDigest'>): Vote[] =>
  votes
    .slice(votes.findLastIndex(({ word }) => word === 'edit') + 1)
    .filter((vote) => vote.word === 'approve' && vote.argsDigest === effectiveDigest);

export const votesNeeded = (approvals: readonly QuorumRole[]): number =>
  approvals.reduce((sum, { count }) => sum + count, 0);

/**
 * Gives each approver at most one place of the list (a role with `count: 2` has two) so that the most places are filled:
 * a maximum bipartite matching by augmenting paths. Returns the approver in each filled place.
 */
export function fillPlaces(
  approvals: readonly QuorumRole[],
  votes: readonly Approval[],
): { role: string; approver?: string }[] {
  const places: { role: string; holder?: Approval }[] = approvals.flatMap(({ role, count }) =>
    Array.from({ length: count }, () => ({ role })),
  );
  const seat = (vote: Approval, tried: Set<number>): boolean =>
    places.some((place, index) => {
      if (tried.has(index) || !vote.roles.includes(place.role)) return false;
      tried.add(index);
      if (place.holder && !seat(place.holder, tried)) return false;
      place.holder = vote;
      return true;
    });
  for (const vote of onePerPerson(votes)) seat(vote, new Set());
  return places.map(({ role, holder }) => (holder ? { role, approver: holder.approver } : { role }));
}

const onePerPerson = (votes: readonly Approval[]): Approval[] => [
  ...new Map(votes.map((vote) => [vote.approver, vote])).values(),
];

const filled = (approvals: readonly QuorumRole[], votes: readonly Approval[]): number =>
  fillPlaces(approvals, votes).filter((place) => place.approver !== undefined).length;

export const quorumMet = (approvals: readonly QuorumRole[], votes: readonly Approval[]): boolean =>
  filled(approvals, votes) === votesNeeded(approvals);

/** What is still needed, by role, under one best assignment of the votes given. */
export function missingVotes(approvals: readonly QuorumRole[], votes: readonly Approval[]): QuorumRole[] {
  const open = fillPlaces(approvals, votes).filter((place) => place.approver === undefined);
  return [...new Set(open.map(({ role }) => role))].map((role) => ({
    role,
    count: open.filter((place) => place.role === role).length,
  }));
}

/** How many votes fill a place, of how many: not every vote does. */
export function votesGiven(state: Pick<RequestState, 'approvals' | 'votes' | 'effectiveDigest'>): {
  given: number;
  needed: number;
} {
  const needed = votesNeeded(state.approvals);
  return { given: filled(state.approvals, countingApprovals(state)), needed };
}

/** The roles of which one more person would bring the request nearer to its quorum: those who are asked now. */
export function awaitedRoles(state: RequestState): string[] {
  if (state.status !== 'PENDING') return [];
  const votes = countingApprovals(state);
  const now = filled(state.approvals, votes);
  return state.asked.filter(
    (role) => filled(state.approvals, [...votes, { approver: '\u0000one more', roles: [role] }]) > now,
  );
}

/** The larger count for each role of the lists. */
export function stricterOf(...lists: (readonly QuorumRole[])[]): QuorumRole[] {
  const needed = new Map<string, number>();
  for (const { role, count } of lists.flat()) needed.set(role, Math.max(count, needed.get(role) ?? 0));
  return [...needed].map(([role, count]) => ({ role, count }));
}
