import type { Content } from './action.ts';
import type { EntryEvent } from './audit-entry.ts';
import type { CountersignError } from './errors.ts';
import type { Move } from './move.ts';
import type { RequestState } from './request.ts';

/**
 * What a pure decider makes of a request as it was read and of the time that was passed in. A refusal that leaves no trace is
 * thrown instead.
 * - `same`: it is already so; nothing is written and the request answers as it stands.
 * - `change`: write this. With a `refusal` the caller is refused all the same: the trace is what was written.
 * - `late-again`: refused, and only counted; the first such attempt is in the audit.
 */
export type Step =
  | { kind: 'same' }
  | {
      kind: 'change';
      after: RequestState;
      event: EntryEvent;
      contents: Content[];
      moves?: Move[];
      refusal?: CountersignError;
    }
  | { kind: 'late-again'; refusal: CountersignError };

export const same: Step = { kind: 'same' };

export const change = (
  after: RequestState,
  event: EntryEvent,
  contents: Content[] = [],
): Extract<Step, { kind: 'change' }> => ({
  kind: 'change',
  after,
  event,
  contents,
});
