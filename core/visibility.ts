import { CountersignError } from './errors.ts';
import { type Principal, requireScope } from './principal.ts';
import type { RequestState } from './request.ts';

/** The same for an id that does not exist and for one that the caller may not see. */
export const notFound = (requestId: string): CountersignError =>
  new CountersignError(
    'NOT_FOUND',
    `There is no request ${JSON.stringify(requestId.slice(0, 128))}, or it is not yours to see.`,
  );

/**
 * The requester sees its own; auditors see all; people see the requests of missions that named one of their roles when it was
 * asked. To everybody else the request does not exist.
 */
export function mayRead(
  state: Pick<RequestState, 'requestedBy' | 'asked' | 'missionRoles'>,
  principal: Principal,
): boolean {
  if (principal.scopes.includes('request') && state.requestedBy === principal.id) return true;
  if (principal.scopes.includes('audit')) return true;
  if (!principal.scopes.includes('decide')) return false;
  return [...state.asked, ...state.missionRoles].some((role) => principal.roles.includes(role));
}

export function requireVisible(state: RequestState, principal: Principal): void {
  if (!mayRead(state, principal)) throw notFound(state.requestId);
}

/** Only who asked acts on the answer; to every other agent the request does not exist. */
export function requireOwn(state: RequestState, principal: Principal): void {
  requireScope(principal, 'request');
  if (state.requestedBy !== principal.id) throw notFound(state.requestId);
}
