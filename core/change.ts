import type { Content } from './action.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { Move } from './move.ts';
import type { RequestState } from './request.ts';

/**
 * One change of one request, written by one transaction or not at all: the new state (with the deliveries it owes), the
 * audit entry that records it, the content that it names for the first time, and what else it moves. `before` absent: the request is made.
 */
export interface Change {
  before?: RequestState;
  after: RequestState;
  entry: AuditEntry;
  contents: Content[];
  /** What else the change moves. The state must not be one of them, nor one record twice. */
  moves?: Move[];
  /** Another request that must exist and belong to the same requester (the one that this revises). */
  revises?: { requestId: string; requestedBy: string };
}
