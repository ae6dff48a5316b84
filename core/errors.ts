import type { JsonValue } from './json.ts';

/** Every way in which Countersign says no. Stable: clients switch on these words. `adapters/http/problem.ts` gives each its HTTP status. */
export type ErrorCode =
  | 'VALIDATION_FAILED'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_AN_APPROVER'
  | 'SELF_APPROVAL'
  | 'NOT_FOUND'
  | 'ALREADY_DECIDED'
  | 'VOTE_CONFLICT'
  | 'ALREADY_CLAIMED'
  | 'NOT_APPROVED'
  | 'DIGEST_MISMATCH'
  | 'CONFLICT'
  | 'DEADLINE_PASSED'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'IDEMPOTENCY_CONFLICT'
  | 'QUORUM_UNATTAINABLE'
  | 'EDIT_NOT_ALLOWED'
  | 'POLICY_INVALID'
  | 'TOO_MANY_REQUESTS';

/**
 * The one error of the domain. `detail` says what was given and what is allowed, in a sentence for the caller;
 * `members` are further members of the problem document (the winning decision, the digest that was approved).
 */
export class CountersignError extends Error {
  readonly code: ErrorCode;
  readonly members: Readonly<Record<string, JsonValue>>;

  constructor(code: ErrorCode, detail: string, members: Readonly<Record<string, JsonValue>> = {}) {
    super(detail);
    this.name = 'CountersignError';
    this.code = code;
    this.members = members;
  }
}
