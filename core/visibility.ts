import { CountersignError } from './errors.ts';
import type { Policies } from './ports.ts';
import { type Principal, requireScope } from './principal.ts';
import type { RequestState } from './request.ts';

/** The same for an id that does not exist and for one that the caller may not see. */
export const notFound = (requestId: string): CountersignError =>
  new CountersignError(
    'NOT_FOUND',
    `There is no request ${JSON.stringify(requestId.slice(0, 128))}, or it is not yours to see.`,
  );

/**
 * The requester sees its own; auditors see all; people see the requests of missions that name one of their roles. To everybody
 * else the request does not exist.
 */
export async function mayRead(
  policies: Policies,
  state: Pick<RequestState, 'requestedBy' | 'missionId'> & Partial<Pick<RequestState, 'asked'>>,
  principal: Principal,
): Promise<boolean> {
  if (principal.scopes.includes('request') && state.requestedBy === principal.id) return true;
  if (principal.scopes.includes('audit')) return true;
  if (!principal.scopes.includes('decide')) return false;
  if (state.asked?.some((role) => principal.roles.includes(role))) return true;
  const mission = await policies.find(state.missionId);
  return principal.roles.some((role) => mission?.roles.has(role) === true);
}

export async function requireVisible(policies: Policies, state: RequestState, principal: Principal): Promise<void> {
  if (!(await mayRead(policies, state, principal))) throw notFound(state.requestId);
}

/** Only who asked acts on the answer; to every other agent the request does not exist. */
export function requireOwn(state: RequestState, principal: Principal): void {
  requireScope(principal, 'request');
  if (state.requestedBy !== principal.id) throw notFound(state.requestId);
}
