import { type Action, actionContent, type Content } from './action.ts';
import { fromCanonical } from './canonical-json.ts';
import { CountersignError } from './errors.ts';
import { type Evaluation, withoutReasons } from './evaluation.ts';
import type { JsonObject } from './json.ts';
import { restoreSecrets } from './json-pointer.ts';
import { policyDigest } from './pinned-policy.ts';
import type { QuorumRole } from './policy.ts';
import type { StoredRequest } from './ports.ts';
import { stricterOf } from './quorum.ts';
import type { PendingState } from './request.ts';
import { checkSize } from './texts.ts';

/** A request can be edited so often; the state item stays small. */
const mostEdits = 20;

/** An action with other arguments, and what it is stored as. */
export interface Edit {
  action: Action;
  content: Content;
}

/** The action with the edited arguments; values that the editor was shown as hidden are put back. */
export function editOf({ state, contents }: StoredRequest, editedArgs: JsonObject): Edit {
  const current = contents.get(state.effectiveDigest);
  if (current === undefined) throw new Error(`content ${state.effectiveDigest} is missing`);
  const asked = fromCanonical<Action & JsonObject>(current);
  const actionArgs = restoreSecrets(editedArgs, asked.actionArgs, state.policy.secretPaths);
  checkSize('actionArgs', actionArgs);
  const action = { ...asked, actionArgs };
  return { action, content: actionContent(action) };
}

/** Throws `EDIT_NOT_ALLOWED`: arguments can be edited before the step, not the action itself, and not without end. */
export function refuseEdit(state: PendingState, actionName: string | undefined): void {
  const refuse = (detail: string): never => {
    throw new CountersignError('EDIT_NOT_ALLOWED', detail);
  };
  if (actionName !== undefined && actionName !== state.actionName)
    refuse('An edit changes arguments, not the action: for another action the agent has to ask.');
  if (state.phase === 'after') refuse('This asks about a step that has already run; its arguments cannot be edited.');
  if (state.votes.filter(({ word }) => word === 'edit').length >= mostEdits)
    refuse(`The arguments were edited ${mostEdits} times, which is the most.`);
}

/**
 * What the rules ask for after an edit: never less than before it, more where they say so. Throws `EDIT_NOT_ALLOWED` where a
 * rule stops the edited arguments.
 */
export function judgedAgain(state: PendingState, judged: Evaluation) {
  if (judged.effect === 'stop') {
    const stopping = judged.matched
      .filter(({ effect }) => effect === 'stop')
      .map(({ ruleId, reason }) => `${ruleId} (${reason})`);
    throw new CountersignError('EDIT_NOT_ALLOWED', `The rules stop these arguments: ${stopping.join(', ')}.`);
  }
  const { matched } = judged;
  const approvals = raisedBy(state, judged.approvals);
  const policy = { ...state.policy, matched, approvals: stricterOf(state.policy.approvals, judged.approvals) };
  const seen = {
    approvals,
    policyDigest: policyDigest({ ...state, policy }),
    ...(matched.length > 0 && { matched: withoutReasons(matched) }),
  };
  return { approvals, policy, judged: seen };
}

/** What is needed at this level, and what the rules now ask for beyond what was needed at first. */
export function raisedBy({ approvals, policy }: PendingState, judged: readonly QuorumRole[]): QuorumRole[] {
  const countOf = (list: readonly QuorumRole[], wanted: string) => list.find(({ role }) => role === wanted)?.count ?? 0;
  const more = judged.map(({ role, count }) => ({ role, count: Math.max(0, count - countOf(policy.approvals, role)) }));
  return stricterOf(
    approvals,
    more.filter(({ count }) => count > 0).map(({ role, count }) => ({ role, count: count + countOf(approvals, role) })),
  );
}
