import type { ActionPolicy, Matched, MissionPolicy } from './policy.ts';

/** How far a run and an agent may go under a mission. */
export interface Bounds {
  /** Requests of one run. */
  maxRequests?: number;
  /** Requests that wait for people at the same time, in one run and of one agent. Absent: no cap. */
  maxPending: { run?: number; agent?: number };
}

export const defaultMaxAttempts = 5;

/** They stand among the rules that matched, so no rule may be called so. */
export const boundIds = ['maxAttempts', 'maxRequests', 'editedEarlier'] as const;
type BoundId = (typeof boundIds)[number];

/** The bounds that a new request passes; each stops it, whatever the rules say. `attempt` and `request` count this one. */
export function boundsPassed(
  { maxAttempts }: Pick<ActionPolicy, 'maxAttempts'>,
  { bounds: { maxRequests } }: Pick<MissionPolicy, 'bounds'>,
  { attempt, request }: { attempt: number; request: number },
): Matched[] {
  const passed: Matched[] = [];
  const stop = (ruleId: BoundId, reason: string) => passed.push({ ruleId, effect: 'stop', reason });
  if (attempt > maxAttempts)
    stop('maxAttempts', `attempt ${attempt} after a rejection; the run may ask for this action ${maxAttempts} times`);
  if (maxRequests !== undefined && request > maxRequests)
    stop('maxRequests', `request ${request} of the run; ${maxRequests} is the most`);
  return passed;
}

/** The run has asked for an action as often as it may after a rejection, and once more. */
export const isRepeatedFailure = (matched: readonly Matched[]): boolean =>
  matched.some(({ ruleId, effect }) => ruleId === ('maxAttempts' satisfies BoundId) && effect === 'stop');

/** Whoever corrected an action did not want it as it was: asked again, it needs a person, whatever else lets it run. */
export const onceEdited = (requestId: string | undefined): Matched[] =>
  requestId === undefined
    ? []
    : [
        {
          ruleId: 'editedEarlier' satisfies BoundId,
          effect: 'pause',
          reason: `a person approved other arguments in place of these, in request ${requestId}: claim that one`,
        },
      ];
