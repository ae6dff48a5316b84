import type { RunFacts } from './audit-entry.ts';
import { addSeconds, type Instant } from './instant.ts';
import type { Matched } from './policy.ts';
import type { RequestState } from './request.ts';

/** Whether the action ran, as far as anybody knows, and the mission wants to hear how it ended. */
export const owesOutcome = (state: RequestState): boolean =>
  state.status === 'APPROVED' && state.policy.requireOutcome === true && state.claim !== undefined && !state.outcome;

/** Every entry copies them forward, so they are few; a run that owes so many asks for nothing more by itself. */
const most = 100;

/** By when each claimed request of the run has to report, after a change of one of them. */
export function outcomesOwedAfter(run: RunFacts, after: RequestState): Pick<RunFacts, 'outcomesOwed'> {
  const { [after.requestId]: known, ...owed } = run.outcomesOwed ?? {};
  if (owesOutcome(after) && after.status === 'APPROVED' && after.claim && Object.keys(owed).length < most)
    owed[after.requestId] = known ?? addSeconds(after.claim.claimedAt, after.policy.validForSeconds);
  return Object.keys(owed).length === 0 ? {} : { outcomesOwed: owed };
}

/** Pauses a new request where the run has not said for too long how an earlier action ended. */
export function pausesForOutcome(run: RunFacts | undefined, now: Instant): Matched[] {
  const owed = Object.entries(run?.outcomesOwed ?? {});
  const overdue = owed.find(([, due]) => due <= now);
  if (!overdue && owed.length < most) return [];
  const reason = overdue
    ? `The outcome of request ${overdue[0]} was due at ${overdue[1]} and is not reported`
    : `The run owes the outcomes of ${owed.length} requests, which is the most`;
  return [{ ruleId: 'run:outcome-owed', effect: 'pause', reason }];
}
