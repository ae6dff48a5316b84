import type { EntryEvent } from './audit-entry.ts';
import { CountersignError } from './errors.ts';
import { type Instant, toMilliseconds } from './instant.ts';
import type { RequestState } from './request.ts';
import { change, type Step } from './step.ts';

type LateEvent = Extract<EntryEvent, { type: 'late_attempt' }>;

/**
 * Somebody came after `since`. The first attempt of each principal on each request is an audit entry; further ones are counted.
 * Either way the answer is `DEADLINE_PASSED`, whether or not the sweep has been there.
 */
export function lateAttempt(
  state: RequestState,
  principal: string,
  attempted: LateEvent['details']['attempted'],
  since: Instant,
  now: Instant,
): Step {
  const late = (toMilliseconds(now) - toMilliseconds(since)) / 1000;
  const refusal = new CountersignError(
    'DEADLINE_PASSED',
    `The time for this was over at ${since}, ${late} s ago; nothing was decided by this attempt.`,
    { deadline: since, status: state.status },
  );
  if (Object.hasOwn(state.lateAttempts, principal)) return { kind: 'late-again', refusal };
  const after = { ...state, lateAttempts: { ...state.lateAttempts, [principal]: 1 } };
  return { ...change(after, { type: 'late_attempt', details: { attempted, tooLateSince: since } }), refusal };
}
