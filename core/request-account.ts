import type { Instant } from './instant.ts';
import type { QuorumRole } from './policy.ts';
import type { Outcome, RequestState, Status, Vote } from './request.ts';
import { type Held, inEntry } from './reservation.ts';
import type { Draw } from './sampling.ts';

/** What a stored request and the entries about it must both say: what was asked, who answered, and what became of it. */
export interface RequestAccount {
  status: Status;
  effectiveDigest: string;
  requestedBy: string;
  onBehalfOf?: string | undefined;
  approvals: QuorumRole[];
  deadline: Instant;
  sample?: Draw | undefined;
  /** Of windows. */
  reserved?: Held[] | undefined;
  level: number;
  votes: Vote[];
  editors: string[];
  decidedBy: string[];
  /** Of an approval by policy no entry says it. */
  claimBy?: Instant | undefined;
  /** The `claimId`. */
  claim?: string | undefined;
  outcome?: Outcome['outcome'] | undefined;
}

export function accountOf(state: RequestState): RequestAccount {
  const { status, effectiveDigest, requestedBy, onBehalfOf, approvals, deadline, sample, level, votes, editors } =
    state;
  const facts = {
    status,
    effectiveDigest,
    requestedBy,
    onBehalfOf,
    approvals,
    deadline,
    sample,
    level,
    votes,
    editors,
    ...inEntry(state),
  };
  switch (state.status) {
    case 'PENDING':
    case 'CANCELLED':
      return { ...facts, decidedBy: [] };
    case 'REJECTED':
    case 'RESPONDED':
    case 'TIMED_OUT':
    case 'REVOKED':
      return { ...facts, decidedBy: [...state.decision.decidedBy] };
    case 'APPROVED':
      return {
        ...facts,
        decidedBy: [...state.decision.decidedBy],
        claimBy: state.decision.source === 'policy' ? undefined : state.claimBy,
        claim: state.claim?.claimId,
        outcome: state.outcome?.outcome,
      };
  }
}
