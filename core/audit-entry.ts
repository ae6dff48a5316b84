import type { Digest } from './canonical-json.ts';
import type { Instant } from './instant.ts';
import type { QuorumRole } from './policy.ts';
import type { Status, VoteWord } from './request.ts';

export type Actor = { kind: 'agent' | 'person'; id: string } | { kind: 'service'; id: 'policy' | 'sweep' };

/** What has to be exact within a run. Each entry copies it forward from the one before, so the chain's tail answers it. */
export interface RunFacts {
  /** Whoever made the first request owns the run; absent as long as there is none. */
  requestedBy?: string;
  missionId?: string;
  policyVersion?: string;
  /** Requests that wait. */
  pending: number;
  /** Asks of an action since its first rejection by a person, by the first 16 hex digits of SHA-256 of the action's name. */
  attempts: Record<string, number>;
}

/** Digests and commitments only; arguments and free text stand in content items. */
export type EntryEvent =
  | {
      type: 'request_created';
      details: {
        actionDigest: Digest;
        textsDigest: Digest;
        requestedBy: string;
        onBehalfOf?: string;
        status: Status;
        policy: string;
        /** Of the policy as it is pinned to the request. Entries of before it was recorded have none. */
        policyDigest?: Digest;
        approvals: QuorumRole[];
        deadline: Instant;
        sample?: { rate: number; draw: number; sampled: boolean };
      };
    }
  /** A vote that decided nothing yet. */
  | { type: 'vote_recorded'; details: VoteDetails }
  | { type: 'arguments_edited'; details: VoteDetails }
  | { type: 'request_approved'; details: VoteDetails & { decidedBy: string[]; claimBy: Instant } }
  | { type: 'request_rejected'; details: VoteDetails & { decidedBy: string[] } }
  | { type: 'request_responded'; details: VoteDetails & { decidedBy: string[] } }
  | {
      type: 'request_escalated';
      details: { level: number; asked: string[]; approvals: QuorumRole[]; deadline: Instant };
    }
  /** Nobody answered. Not a refusal. */
  | { type: 'request_timed_out'; details: { deadline: Instant; reason: 'no_answer' | 'alert_never_left' } }
  /** `onTimeout: proceed`: nobody answered and the policy lets it run. */
  | { type: 'request_proceeded'; details: { deadline: Instant; claimBy: Instant } }
  | { type: 'request_cancelled'; details: Record<string, never> }
  | { type: 'approval_revoked'; details: { textDigest?: Digest } }
  | { type: 'approval_expired'; details: { claimBy: Instant } }
  | { type: 'approval_claimed'; details: { claimId: string; effectiveDigest: Digest } }
  | {
      type: 'outcome_reported';
      details: { claimId: string; outcome: 'succeeded' | 'failed' | 'unknown'; resultDigest?: Digest };
    }
  | { type: 'late_attempt'; details: { attempted: VoteWord | 'claim'; tooLateSince: Instant } };

export type EntryType = EntryEvent['type'];

export interface VoteDetails {
  word: VoteWord;
  roles: string[];
  /** What the approver saw. */
  argsDigest?: Digest;
  /** With an edit: what would run now. */
  editedDigest?: Digest;
  textDigest?: Digest;
}

/** What is hashed: everything but the hash. */
export type UnsealedEntry = EntryEvent & {
  runId: string;
  /** 1, 2, 3 … without a gap. */
  sequence: number;
  at: Instant;
  actor: Actor;
  requestId?: string;
  policyVersion?: string;
  run: RunFacts;
  /** The hash of the entry before, or `genesis`. */
  previousHash: string;
};

/** One immutable record. `canonical` is the very string that was hashed. */
export type AuditEntry = UnsealedEntry & { hash: string; canonical: string };
