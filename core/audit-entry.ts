import type { Digest } from './canonical-json.ts';
import type { Instant } from './instant.ts';
import type { Effect, QuorumRole } from './policy.ts';
import type { PolicyDiff } from './policy-diff.ts';
import type { PrecedentRef } from './precedent.ts';
import type { Status, VoteWord } from './request.ts';
import type { Held } from './reservation.ts';
import type { Draw } from './sampling.ts';

export type Actor = { kind: 'agent' | 'person'; id: string } | { kind: 'service'; id: 'policy' | 'sweep' };

/** What has to be exact within a run. Each entry copies it forward from the one before, so the chain's tail answers it. */
export interface RunFacts {
  /** Whoever made the first request owns the run; absent as long as there is none. */
  requestedBy?: string;
  missionId?: string;
  /** The version under which the run asked last. */
  policyVersion?: string;
  /** When the run began to ask: it keeps its version for 24 hours from here. */
  policySince?: Instant;
  /** An after-checkpoint that was answered with no: the run may do nothing more. */
  stoppedBy?: string;
  /** By when each claimed request has to say how it ended, where the mission wants to hear it. */
  outcomesOwed?: Record<string, Instant>;
  /** Requests that wait. */
  pending: number;
  /** Requests that there are, whatever became of them. */
  requests?: number;
  /** Asks of an action since its first rejection by a person, by the first 16 hex digits of SHA-256 of the action's name. */
  attempts: Record<string, number>;
  /** Those of the actions for which people were told that the run fails again and again. */
  repeatedFailures?: string[];
  /** Actions that a person approved with other arguments: the first 16 hex digits of the digest as asked, and the request. The last few. */
  edited?: { digest: string; requestId: string }[];
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
        /** Rules that matched, or could not be read, by id; their words stand in the policy document. */
        matched?: { ruleId: string; effect: Effect }[];
        /** Of the policy as it is pinned to the request. */
        policyDigest?: Digest;
        approvals: QuorumRole[];
        deadline: Instant;
        sample?: Draw;
        /** What it holds of windows. */
        reserved?: Held[];
        /** People were told that the run fails again and again. */
        escalationId?: string;
        /** Because of which it was not novel. */
        precedent?: PrecedentRef;
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
  /** Another version of the rules was run on a request that waits; it can only have become stricter. */
  | {
      type: 'request_reevaluated';
      details: {
        /** What these rules say by themselves. */
        effect: Effect;
        status: Status;
        asked: string[];
        policyDigest: Digest;
        approvals: QuorumRole[];
        matched?: { ruleId: string; effect: Effect }[];
      };
    }
  /** About no request, in a chain of the mission's own. */
  | {
      type: 'policy_published';
      details: {
        missionId: string;
        version: string;
        documentDigest: Digest;
        force: boolean;
        diff: PolicyDiff;
        /** The request whose approval allowed it. */
        approvalId?: string;
      };
    }
  | { type: 'approval_revoked'; details: { textDigest?: Digest } }
  | { type: 'approval_expired'; details: { claimBy: Instant } }
  | { type: 'approval_claimed'; details: { claimId: string; effectiveDigest: Digest; precedentId?: string } }
  /** The action is novel again; the reason is the text. */
  | { type: 'precedent_revoked'; details: { precedentId: string; textDigest: Digest } }
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
  /** With an edit: what the rules, run again, ask for. */
  approvals?: QuorumRole[];
  matched?: { ruleId: string; effect: Effect }[];
  /** With an edit: of the policy as the rules, run again, left it. */
  policyDigest?: Digest;
  /** With an edit that moves it: what the request holds of windows now. */
  reserved?: Held[];
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
