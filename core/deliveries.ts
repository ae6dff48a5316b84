import type { Instant } from './instant.ts';
import { awaitedRoles } from './quorum.ts';
import type { Owed, PendingState } from './request.ts';

/** Alerts owed to the roles that are asked now. An edit asks anew, so its number is part of the id. */
export function askedDeliveries(state: PendingState, now: Instant): Record<string, Owed> {
  const kind = state.level === 0 ? 'asked' : 'escalated';
  const edits = state.votes.filter(({ word }) => word === 'edit').length;
  return Object.fromEntries(
    awaitedRoles(state).map((role) => [
      `${kind}-${state.level}-${role}${edits === 0 ? '' : `-edit${edits}`}`,
      { kind, role, level: state.level, attempts: 0, nextAt: now },
    ]),
  );
}
