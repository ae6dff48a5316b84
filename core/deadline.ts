import { earliest, type Instant } from './instant.ts';
import type { RequestState } from './request.ts';

/** The deadline itself is already too late, for a vote, a claim and the sweep alike: there is no instant that two of them own. */
export const isPast = (deadline: Instant, now: Instant): boolean => now >= deadline;

/** When something is due by itself: the timeout of a question, the end of an approval that nobody claimed. */
function ownWake(state: RequestState): Instant | undefined {
  switch (state.status) {
    case 'PENDING':
      return state.deadline;
    case 'APPROVED':
      return state.claim ? undefined : state.claimBy;
    case 'REJECTED':
    case 'RESPONDED':
    case 'TIMED_OUT':
    case 'CANCELLED':
    case 'REVOKED':
      return undefined;
  }
}

/** When the sweep has to look at the request: its own time, or the delivery owed that is due first. */
export const wakeTime = (state: RequestState): Instant | undefined =>
  earliest(ownWake(state), ...Object.values(state.owed).map(({ nextAt }) => nextAt));

/** `wakeAt` is absent, not undefined, where nothing will ever be due. */
export function withWake<State extends RequestState>(state: State): State {
  const { wakeAt: _, ...rest } = state;
  const wakeAt = wakeTime(state);
  return (wakeAt === undefined ? rest : { ...rest, wakeAt }) as State;
}
