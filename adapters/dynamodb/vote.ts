import type { EntryType } from '../../core/audit-entry.ts';

/** What a person says and the deadline binds; noting that somebody came too late, or cancelling, is no vote. */
export function isVote({ type }: { type: EntryType }): boolean {
  switch (type) {
    case 'vote_recorded':
    case 'arguments_edited':
    case 'request_approved':
    case 'request_rejected':
    case 'request_responded':
    case 'request_reevaluated':
      return true;
    case 'request_created':
    case 'request_escalated':
    case 'request_timed_out':
    case 'request_proceeded':
    case 'request_cancelled':
    case 'approval_revoked':
    case 'approval_expired':
    case 'approval_claimed':
    case 'outcome_reported':
    case 'late_attempt':
    case 'precedent_revoked':
    case 'policy_published':
      return false;
  }
}
