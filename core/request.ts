import type { Phase } from './action.ts';
import type { Digest } from './canonical-json.ts';
import type { Reservation } from './counter.ts';
import type { Instant } from './instant.ts';
import type { PinnedPolicy, QuorumRole } from './policy.ts';
import type { PrecedentRef } from './precedent.ts';
import type { Draw } from './sampling.ts';

export type Status = RequestState['status'];
export type Verdict = 'allow' | 'pause' | 'stop';
export type VoteWord = 'approve' | 'reject' | 'edit' | 'respond';

/** One approver's word. A vote whose `argsDigest` is no longer the request's `effectiveDigest` is void: an edit came after it. */
export interface Vote {
  approver: string;
  word: VoteWord;
  /** Of the roles that were asked, those which the approver's token held at that time. */
  roles: string[];
  /** What the approver saw; a rejection may come without it. */
  argsDigest?: Digest;
  /** Content `{kind: 'vote-text', salt, note?, response?}`. */
  textDigest?: Digest;
  /** With `edit`: the action as edited. */
  editedDigest?: Digest;
  at: Instant;
}

/** A decision names who made it. Only a person's has deciders; there is at least one. */
export type HumanDecision<Word extends string> = {
  word: Word;
  source: 'human';
  decidedBy: [string, ...string[]];
  decidedAt: Instant;
  /** Content of the deciding vote's or the revocation's note or response. */
  textDigest?: Digest;
};
export type PolicyDecision<Word extends string> = { word: Word; source: 'policy'; decidedBy: []; decidedAt: Instant };
export type TimeoutDecision<Word extends string> = { word: Word; source: 'timeout'; decidedBy: []; decidedAt: Instant };

/** The single use of an approval. */
export interface Claim {
  claimId: string;
  claimedAt: Instant;
  claimedBy: string;
}

export interface Outcome {
  outcome: 'succeeded' | 'failed' | 'unknown';
  reportedAt: Instant;
  /** Content `{kind: 'outcome-result', salt, result}`. */
  resultDigest?: Digest;
}

/** An alert that must still leave. Its key in `owed` is its id: the same id on every try. */
export interface Owed {
  kind: 'asked' | 'escalated';
  role: string;
  level: number;
  /** Tries that failed so far. */
  attempts: number;
  /** Not before this instant; moved ahead while a dispatcher holds it, so that two never send the same. */
  nextAt: Instant;
}

/** What every request has, whatever became of it. Small: arguments and texts are content, named here by digest. */
export interface RequestFacts {
  requestId: string;
  runId: string;
  missionId: string;
  phase: Phase;
  occurrenceId?: string;
  actionName: string;
  sourceAgent?: string;
  targetAgent?: string;
  onBehalfOf?: string;
  traceId?: string;
  revisionOf?: string;
  requestedBy: string;
  requestedAt: Instant;
  /** The action as asked. */
  argsDigest: Digest;
  /** The action that an approval would allow now: `argsDigest`, until an edit. */
  effectiveDigest: Digest;
  /** Content `{kind: 'request-texts', salt, contextSummary?, agentConfidence?, actionResult?, metadata?}`. */
  textsDigest: Digest;
  /** Digest of the whole body as asked, to tell a replay from a conflict. Salted with nothing: never shown. */
  bodyDigest: Digest;
  policy: PinnedPolicy;
  /** Every role that the mission named when it was asked: who holds one may see the request, whatever is published later. */
  missionRoles: string[];
  /** How often the run had asked for this action since its first rejection, this time included. */
  attempt: number;
  /** What it holds of windows and caps; absent: nothing. */
  reserved?: Reservation[];
  /** A request of the run in which a person approved other arguments in place of exactly these. */
  editedEarlier?: string;
  /** The draw of an action that ran by itself. */
  sample?: Draw;
  /** The precedent because of which it was allowed. */
  precedent?: PrecedentRef;

  /** Which votes are needed, at this level. */
  approvals: QuorumRole[];
  /** The roles that may vote at this level; those of earlier levels may only read. */
  asked: string[];
  /** How often the request was escalated. */
  level: number;
  deadline: Instant;
  votes: Vote[];
  /** Who edited the arguments. */
  editors: string[];
  /** Attempts to vote or claim when it was too late, by principal. The first of each is in the audit. */
  lateAttempts: Record<string, number>;

  owed: Record<string, Owed>;
  /** Delivered alerts: when, by id. */
  delivered: Record<string, Instant>;
  /** When the sweep looks at it next; absent: never. */
  wakeAt?: Instant;
  /** Counts the changes; every decision is written on the version that it read. `dispatch` does not move it. */
  version: number;
  /** The last audit entry about this request: a chain that is shorter was cut. */
  lastEntry: { sequence: number; hash: string };
}

export interface Pending {
  status: 'PENDING';
}
export interface Approved {
  status: 'APPROVED';
  decision: HumanDecision<'approve' | 'edit'> | PolicyDecision<'approve'> | TimeoutDecision<'approve'>;
  claimBy: Instant;
  closedAt: Instant;
  claim?: Claim;
  outcome?: Outcome;
}
export interface Rejected {
  status: 'REJECTED';
  /** By a person, or by a rule that stops. */
  decision: HumanDecision<'reject'> | PolicyDecision<'reject'>;
  closedAt: Instant;
}
export interface Responded {
  status: 'RESPONDED';
  decision: HumanDecision<'respond'>;
  closedAt: Instant;
}
export interface TimedOut {
  status: 'TIMED_OUT';
  decision: TimeoutDecision<'timeout'>;
  closedAt: Instant;
}
export interface Cancelled {
  status: 'CANCELLED';
  /** Nobody decided: the requester no longer needs it. */
  cancelledBy: string;
  closedAt: Instant;
}
export interface Revoked {
  status: 'REVOKED';
  /** By a person, or by time: not claimed by `claimBy`. */
  decision: HumanDecision<'revoke'> | TimeoutDecision<'revoke'>;
  closedAt: Instant;
}

export type RequestState = RequestFacts & (Pending | Approved | Rejected | Responded | TimedOut | Cancelled | Revoked);
export type PendingState = RequestFacts & Pending;
export type ApprovedState = RequestFacts & Approved;

/** Verdict, derived from the status and never stored beside it. */
export function verdictOf(status: Status): Verdict {
  switch (status) {
    case 'PENDING':
      return 'pause';
    case 'APPROVED':
      return 'allow';
    case 'REJECTED':
    case 'RESPONDED':
    case 'TIMED_OUT':
    case 'CANCELLED':
    case 'REVOKED':
      return 'stop';
  }
}
