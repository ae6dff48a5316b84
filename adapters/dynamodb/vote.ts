import type { EntryType } from '../../core/audit-entry.ts';
import type { Change } from '../../core/change.ts';
import type { Instant } from '../../core/instant.ts';

/** The attribute that says until when this change may be stored, whatever became of the request meanwhile. */
export interface TimeLimit {
  attribute: 'deadline' | 'claimBy';
  instant: Instant;
}

/** A vote is stored before the deadline, a claim before the approval ends; nothing else is bound to a time. */
export function mustBeBefore({ before, entry }: Pick<Change, 'before' | 'entry'>): TimeLimit | undefined {
  if (before?.status === 'PENDING' && isVote(entry)) return { attribute: 'deadline', instant: before.deadline };
  if (before?.status === 'APPROVED' && entry.type === 'approval_claimed')
    return { attribute: 'claimBy', instant: before.claimBy };
  return undefined;
}

/** What a person says and the deadline binds; noting that somebody came too late, or cancelling, is no vote. */
function isVote({ type }: { type: EntryType }): boolean {
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
