import type { Action } from './action.ts';
import { effectiveArgs } from './claim.ts';
import type { Instant } from './instant.ts';
import type { ActionPolicy } from './policy.ts';
import type { StoredRequest } from './ports.ts';
import { type Precedent, precedentIdOf } from './precedent.ts';
import { isCalled } from './principal.ts';

/** Where the precedent of an action would stand. `undefined`: it asks for none, or each occurrence is novel. */
export function placeOfPrecedent(
  { policy, noveltyKey }: Pick<ActionPolicy, 'policy' | 'noveltyKey'>,
  { missionId, ...action }: { missionId: string } & Pick<Action, 'actionName' | 'actionArgs' | 'phase'>,
): Pick<Precedent, 'missionId' | 'precedentId'> | undefined {
  if (policy !== 'approval_novel' || noveltyKey === undefined) return undefined;
  return { missionId, precedentId: precedentIdOf(action, noveltyKey) };
}

/**
 * What the claim of a request establishes, over the arguments that a person approved, edited or not. `undefined` where no person
 * approved, or the policy that the request was made under asks for no precedent.
 */
export function precedentOf(request: StoredRequest, now: Instant): Precedent | undefined {
  const { state } = request;
  if (state.status !== 'APPROVED' || state.decision.source !== 'human') return undefined;
  const { missionId, actionName, phase, requestId, runId, policy, decision } = state;
  const { name, noveltyKey } = policy;
  const place = placeOfPrecedent(
    { policy: name, noveltyKey },
    { missionId, actionName, phase, actionArgs: effectiveArgs(request) },
  );
  if (!place || !noveltyKey) return undefined;
  return {
    ...place,
    actionName,
    noveltyKey,
    requestId,
    runId,
    approvedBy: [...decision.decidedBy],
    approvedAt: decision.decidedAt,
    setAt: now,
  };
}

/**
 * Whether it may stand in for a person's word here. Not where one of those who gave that word asks now, or is who it is done
 * for: their vote on this request would not count either.
 */
export const isInForce = (
  precedent: Precedent | undefined,
  { requestedBy, onBehalfOf = requestedBy }: { requestedBy: string; onBehalfOf?: string | undefined },
): precedent is Precedent =>
  precedent !== undefined &&
  precedent.revoked === undefined &&
  !precedent.approvedBy.some((id) => [requestedBy, onBehalfOf].some((name) => isCalled({ id, aliases: [] }, name)));

/** One that was revoked after the person approved stays revoked: whoever revoked it meant this approval too. */
export const maySet = (precedent: Precedent, before: Precedent | undefined): boolean =>
  before === undefined || (before.revoked !== undefined && before.revoked.at < precedent.approvedAt);
