import type { CountersignError, ErrorCode } from '../../core/errors.ts';
import type { JsonValue } from '../../core/json.ts';

/** The one table from the domain's words to HTTP. */
export const problems: Readonly<Record<ErrorCode, { status: number; title: string }>> = {
  VALIDATION_FAILED: { status: 400, title: 'The request is not valid' },
  UNAUTHENTICATED: { status: 401, title: 'Nobody is signed in' },
  FORBIDDEN: { status: 403, title: 'Not allowed' },
  NOT_AN_APPROVER: { status: 403, title: 'Not an approver of this request' },
  SELF_APPROVAL: { status: 403, title: 'Nobody approves what they asked for' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  ALREADY_DECIDED: { status: 409, title: 'Already decided' },
  VOTE_CONFLICT: { status: 409, title: 'Already voted otherwise' },
  ALREADY_CLAIMED: { status: 409, title: 'Already claimed' },
  NOT_APPROVED: { status: 409, title: 'Not approved' },
  DIGEST_MISMATCH: { status: 409, title: 'Not what was shown or approved' },
  CONFLICT: { status: 409, title: 'In conflict with what is stored' },
  DEADLINE_PASSED: { status: 410, title: 'The time is over' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'Too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Not a content type that is understood' },
  IDEMPOTENCY_CONFLICT: { status: 422, title: 'The idempotency key was used for something else' },
  QUORUM_UNATTAINABLE: { status: 422, title: 'The votes that are needed cannot be reached' },
  EDIT_NOT_ALLOWED: { status: 422, title: 'Not an edit that is allowed' },
  POLICY_INVALID: { status: 422, title: 'Not a valid policy' },
  TOO_MANY_REQUESTS: { status: 429, title: 'Too much at once' },
};

/** Seconds after which a `TOO_MANY_REQUESTS` is worth another try, unless the error names its own. */
const usualRetryAfterSeconds = 1;

/** RFC 9457. The error's members can never replace the standard ones. */
export interface Problem {
  status: number;
  headers: Record<string, string>;
  body: Record<string, JsonValue>;
}

export function problemOf(error: CountersignError): Problem {
  const { status, title } = problems[error.code];
  const wait = error.members.retryAfterSeconds ?? usualRetryAfterSeconds;
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(error.code === 'TOO_MANY_REQUESTS' && { 'retry-after': String(wait) }),
    },
    body: { ...error.members, type: typeOf(error.code), title, status, code: error.code, detail: error.message },
  };
}

/** For what should never happen: says nothing of the inside. */
export const internalProblem = (reference: string): Problem => ({
  status: 500,
  headers: { 'content-type': 'application/problem+json' },
  body: {
    type: typeOf('INTERNAL_ERROR'),
    title: 'A fault of the service',
    status: 500,
    code: 'INTERNAL_ERROR',
    detail: `Something failed here, not in what was sent. Ask again; reference ${reference}.`,
  },
});

const typeOf = (code: string): string => `urn:countersign:problem:${code.toLowerCase().replaceAll('_', '-')}`;
