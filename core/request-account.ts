import type { Instant } from './instant.ts';
import { policyDigest } from './pinned-policy.ts';
import type { QuorumRole } from './policy.ts';
import type { Outcome, RequestState, Status, Vote } from './request.ts';
import { type Held, inEntry } from './reservation.ts';
import type { Draw } from './sampling.ts';

/** What a stored request and the entries about it must both say: what was asked, who answered, and what became of it. */
export interface RequestAccount {
  status: Status;
  runId: string;
  missionId?: string | undefined;
  requestedAt: Instant;
  argsDigest: string;
  textsDigest: string;
  /** Entries of before it was recorded do not say it. */
  policyDigest?: string | undefined;
  effectiveDigest: string;
  requestedBy: string;
  onBehalfOf?: string | undefined;
  approvals: QuorumRole[];
  asked: string[];
  deadline: Instant;
  sample?: Draw | undefined;
  /** Of windows. */
  reserved?: Held[] | undefined;
  level: number;
  votes: Vote[];
  editors: string[];
  decidedBy: string[];
  decision?: DecisionAccount | undefined;
  cancelledBy?: string | undefined;
  closedAt?: Instant | undefined;
  claimBy?: Instant | undefined;
  /** The `claimId`. */
  claim?: string | undefined;
  claimedBy?: string | undefined;
  claimedAt?: Instant | undefined;
  outcome?: Outcome['outcome'] | undefined;
  reportedAt?: Instant | undefined;
  resultDigest?: string | undefined;
}

type Decided = Exclude<RequestState, { status: 'PENDING' | 'CANCELLED' }>['decision'];

/** A decision but for who made it. */
export type DecisionAccount = Pick<Decided, 'word' | 'source' | 'decidedAt'> & { textDigest?: string | undefined };

export function accountOf(state: RequestState): RequestAccount {
  const { status, effectiveDigest, requestedBy, onBehalfOf, approvals, deadline, level, votes, editors } = state;
  const { runId, missionId, requestedAt, argsDigest, textsDigest, asked, sample } = state;
  const facts = {
    ...{ status, effectiveDigest, requestedBy, onBehalfOf, approvals, deadline, level, votes, editors, sample },
    ...{ runId, missionId, requestedAt, argsDigest, textsDigest, asked, policyDigest: policyDigest(state) },
    ...inEntry(state),
  };
  switch (state.status) {
    case 'PENDING':
      return { ...facts, decidedBy: [] };
    case 'CANCELLED':
      return { ...facts, decidedBy: [], cancelledBy: state.cancelledBy, closedAt: state.closedAt };
    case 'REJECTED':
    case 'RESPONDED':
    case 'TIMED_OUT':
    case 'REVOKED':
      return { ...facts, ...decided(state) };
    case 'APPROVED': {
      const { claimBy, claim, outcome } = state;
      return {
        ...facts,
        ...decided(state),
        claimBy,
        claim: claim?.claimId,
        claimedBy: claim?.claimedBy,
        claimedAt: claim?.claimedAt,
        outcome: outcome?.outcome,
        reportedAt: outcome?.reportedAt,
        resultDigest: outcome?.resultDigest,
      };
    }
  }
}

function decided({ decision, closedAt }: { decision: Decided; closedAt: Instant }) {
  const { decidedBy, word, source, decidedAt } = decision;
  const textDigest = 'textDigest' in decision ? decision.textDigest : undefined;
  return { decidedBy: [...decidedBy], decision: { word, source, decidedAt, textDigest }, closedAt };
}
