import { type Action, actionContent } from './action.ts';
import { fromCanonical } from './canonical-json.ts';
import { isPast, withWake } from './deadline.ts';
import { CountersignError } from './errors.ts';
import { addSeconds, type Instant } from './instant.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { maskArguments } from './json-pointer.ts';
import { lateAttempt } from './lateness.ts';
import type { Move } from './move.ts';
import type { StoredRequest } from './ports.ts';
import type { ApprovedState, Outcome, RequestState } from './request.ts';
import { fillOf } from './sample.ts';
import { change, type Step, same } from './step.ts';
import { checkSize, textContent } from './texts.ts';

export interface ClaimCommand {
  action: Action;
  /** Chosen by the client, so that it can ask again; else made for it. */
  claimId?: string | undefined;
}

/** The arguments that an approval allows now, as canonical JSON gave them back. */
export function effectiveArgs({ state, contents }: StoredRequest): JsonObject {
  const canonical = contents.get(state.effectiveDigest);
  if (canonical === undefined) throw new Error(`content ${state.effectiveDigest} is missing`);
  return fromCanonical<{ actionArgs: JsonObject }>(canonical).actionArgs;
}

/**
 * The single use of an approval, on exactly what was approved. Throws `DIGEST_MISMATCH` (with what was approved),
 * `ALREADY_CLAIMED`, `NOT_APPROVED`, `DEADLINE_PASSED`.
 */
export function claim(
  request: StoredRequest,
  { action, claimId }: ClaimCommand,
  context: { claimant: string; now: Instant; newClaimId: string },
): Step {
  const { state } = request;
  const { claimant, now, newClaimId } = context;
  if (state.status !== 'APPROVED') return notApproved(state, claimant, now);
  if (state.claim) {
    if (claimId !== state.claim.claimId)
      throw new CountersignError(
        'ALREADY_CLAIMED',
        `The approval was used at ${state.claim.claimedAt}${claimId === undefined ? '' : ' under another claimId'}; it allows one execution.`,
        { claimedAt: state.claim.claimedAt },
      );
    requireApprovedAction(request, action);
    return same;
  }
  if (isPast(state.claimBy, now)) return lateAttempt(state, claimant, 'claim', state.claimBy, now);
  refuseWhileResting(state, now);
  requireApprovedAction(request, action);
  const used = { claimId: claimId ?? newClaimId, claimedAt: now, claimedBy: claimant };
  return change(withWake<RequestState>({ ...state, claim: used }), {
    type: 'approval_claimed',
    details: { claimId: used.claimId, effectiveDigest: state.effectiveDigest },
  });
}

/** From when on the approval may be used; until then it can only be taken back. `undefined`: at once. */
export const claimableAt = ({ policy, decision }: ApprovedState): Instant | undefined =>
  policy.holdSeconds === undefined ? undefined : addSeconds(decision.decidedAt, policy.holdSeconds);

function refuseWhileResting(state: ApprovedState, now: Instant): void {
  const from = claimableAt(state);
  if (from === undefined || isPast(from, now)) return;
  throw new CountersignError(
    'NOT_APPROVED',
    `The approval rests until ${from}, so that it can still be taken back; claim it then.`,
    { status: state.status, claimableAt: from },
  );
}

function notApproved(state: Exclude<RequestState, ApprovedState>, claimant: string, now: Instant): Step {
  if (state.status === 'PENDING' && isPast(state.deadline, now))
    return lateAttempt(state, claimant, 'claim', state.deadline, now);
  if (state.status === 'TIMED_OUT') return lateAttempt(state, claimant, 'claim', state.deadline, now);
  if (state.status === 'REVOKED' && state.decision.source === 'timeout')
    return lateAttempt(state, claimant, 'claim', state.closedAt, now);
  throw new CountersignError('NOT_APPROVED', `The request is ${state.status}; only an approved one can be claimed.`, {
    status: state.status,
  });
}

function requireApprovedAction(request: StoredRequest, action: Action): void {
  const { argsDigest, effectiveDigest, policy } = request.state;
  const { digest } = actionContent(action);
  if (digest === effectiveDigest) return;
  const edited = effectiveDigest !== argsDigest;
  throw new CountersignError(
    'DIGEST_MISMATCH',
    `${edited ? 'The arguments were edited: ' : ''}you claim ${digest}; approved is ${effectiveDigest}, which differs. Nothing was used by this call.`,
    { effectiveDigest, effectiveArgs: maskArguments(effectiveArgs(request), policy.secretPaths) },
  );
}

export interface OutcomeCommand {
  claimId: string;
  outcome: Outcome['outcome'];
  result?: JsonValue | undefined;
}

/** What happened when the action ran. `unknown` may be settled later; `succeeded` and `failed` are final. Throws `CONFLICT`. */
export function settle(
  { state }: StoredRequest,
  command: OutcomeCommand,
  { now, salt }: { now: Instant; salt: string },
): Step {
  if (state.status !== 'APPROVED' || !state.claim)
    throw new CountersignError(
      'CONFLICT',
      `The request is ${state.status} and not claimed; there is nothing to report.`,
      {
        status: state.status,
      },
    );
  if (command.claimId !== state.claim.claimId)
    throw new CountersignError('CONFLICT', 'The claimId is not the one under which the approval was used.');
  const known = state.outcome;
  if (known?.outcome === command.outcome) return same;
  if (known && known.outcome !== 'unknown')
    throw new CountersignError('CONFLICT', `The outcome was reported as ${known.outcome} at ${known.reportedAt}.`, {
      outcome: known.outcome,
    });
  checkSize('result', command.result);
  const result =
    command.result === undefined ? undefined : textContent('outcome-result', salt, { result: command.result });
  const outcome: Outcome = {
    outcome: command.outcome,
    reportedAt: now,
    ...(result && { resultDigest: result.digest }),
  };
  const filled: Move[] = state.sample?.sampled
    ? [{ kind: 'sample-fill', sampleId: state.requestId, fill: fillOf(state, outcome) }]
    : [];
  const told = change(
    { ...state, outcome },
    {
      type: 'outcome_reported',
      details: {
        claimId: command.claimId,
        outcome: command.outcome,
        ...(result && { resultDigest: result.digest }),
      },
    },
    result ? [result] : [],
  );
  return { ...told, moves: filled };
}
