import type { Action, Content } from './action.ts';
import type { VoteDetails } from './audit-entry.ts';
import { fromCanonical } from './canonical-json.ts';
import { isPast, withWake } from './deadline.ts';
import { askedDeliveries } from './deliveries.ts';
import { type Edit, editOf, judgedAgain, refuseEdit } from './edit.ts';
import { CountersignError } from './errors.ts';
import type { Evaluation } from './evaluation.ts';
import { addSeconds, type Instant } from './instant.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { lateAttempt } from './lateness.ts';
import type { StoredRequest } from './ports.ts';
import { isCalled, type Principal } from './principal.ts';
import { countingApprovals, fillPlaces, quorumMet, votesNeeded } from './quorum.ts';
import type { HumanDecision, PendingState, RequestState, Vote, VoteWord } from './request.ts';
import { change, type Step, same } from './step.ts';
import { checkSize, textContent } from './texts.ts';

/** One approver's word as it arrives. `argsDigest` is what the approver saw. */
export type VoteCommand =
  | { decision: 'approve'; argsDigest: string; note?: string | undefined }
  | { decision: 'reject'; argsDigest?: string | undefined; note: string }
  | {
      decision: 'edit';
      argsDigest: string;
      note?: string | undefined;
      editedArgs: JsonObject;
      actionName?: string | undefined;
    }
  | { decision: 'respond'; argsDigest: string; note?: string | undefined; response: JsonValue };

export interface VoteContext {
  voter: Principal;
  now: Instant;
  /** Fresh random text for the commitment to the note or response. */
  salt: string;
  /** The rules, run again on an action with edited arguments. */
  judge(action: Action): Evaluation;
}

/**
 * What a vote makes of a request. Throws `NOT_AN_APPROVER`, `SELF_APPROVAL`, `DIGEST_MISMATCH`, `ALREADY_DECIDED`,
 * `VOTE_CONFLICT`, `EDIT_NOT_ALLOWED`, `DEADLINE_PASSED`.
 */
export function decide(request: StoredRequest, command: VoteCommand, context: VoteContext): Step {
  const { state } = request;
  const { voter, now } = context;
  const edited = command.decision === 'edit' ? editOf(request, command.editedArgs) : undefined;
  const earlier = state.votes.findLast((vote) => vote.approver === voter.id);
  const repeated = earlier !== undefined && isRepeat(request, earlier, command, edited?.content);

  const roles = voter.roles.filter((role) => state.asked.includes(role));
  const late = () => lateAttempt(state, voter.id, command.decision, state.deadline, now);

  if (state.status === 'TIMED_OUT' && roles.length > 0) return late();
  if (state.status !== 'PENDING') return afterTheDecision(state, earlier, repeated);

  const stands = repeated && isCurrent(state, earlier);
  const mayWithdraw = command.decision === 'reject' && earlier?.word === 'approve';
  if (roles.length === 0 && !mayWithdraw && !stands)
    throw new CountersignError(
      'NOT_AN_APPROVER',
      `This needs ${state.asked.join(' or ')}; you hold ${voter.roles.join(', ') || 'no role'}.`,
      { asked: state.asked },
    );
  if (isPast(state.deadline, now)) return late();
  if (stands) return same;
  if (command.decision !== 'reject') refuseOwnApproval(state, voter, command.decision);
  if (command.argsDigest !== undefined && command.argsDigest !== state.effectiveDigest)
    throw new CountersignError(
      'DIGEST_MISMATCH',
      `You saw ${command.argsDigest}; what would run now is ${state.effectiveDigest}. Read it again.`,
      { effectiveDigest: state.effectiveDigest },
    );
  if (command.decision === 'edit') refuseEdit(state, command.actionName);
  if (edited?.content.digest === state.effectiveDigest)
    throw new CountersignError(
      'VALIDATION_FAILED',
      'The edited arguments are those that stand already: approve them instead.',
    );
  return cast(state, command, edited, context, roles.length > 0 ? roles : (earlier?.roles ?? []));
}

function afterTheDecision(state: RequestState, earlier: Vote | undefined, repeated: boolean): Step {
  if (state.status === 'TIMED_OUT')
    throw new CountersignError('DEADLINE_PASSED', `The time was over at ${state.deadline}; nobody had decided.`, {
      deadline: state.deadline,
      status: state.status,
    });
  if (repeated) return same;
  const winner = decisionMembers(state);
  if (earlier)
    throw new CountersignError(
      'VOTE_CONFLICT',
      `You voted ${earlier.word} at ${earlier.at} and the request is ${state.status}; another word is too late.`,
      winner,
    );
  throw new CountersignError('ALREADY_DECIDED', `The request is already ${state.status}.`, winner);
}

/** The winning decision, as members of the problem that tells the others. */
export function decisionMembers(state: RequestState): Record<string, JsonValue> {
  if (state.status === 'PENDING') return { status: state.status };
  if (state.status === 'CANCELLED') return { status: state.status, cancelledBy: state.cancelledBy };
  const { word, source, decidedBy, decidedAt } = state.decision;
  return { status: state.status, decision: { word, source, decidedBy: [...decidedBy], decidedAt } };
}

function isRepeat(request: StoredRequest, earlier: Vote, command: VoteCommand, edited: Content | undefined): boolean {
  if (earlier.word !== command.decision) return false;
  const texts = earlier.textDigest === undefined ? undefined : request.contents.get(earlier.textDigest);
  const said = texts === undefined ? {} : fromCanonical<JsonObject>(texts);
  switch (command.decision) {
    case 'approve':
      return earlier.argsDigest === command.argsDigest;
    case 'reject':
      return true;
    case 'edit':
      return earlier.editedDigest === edited?.digest;
    case 'respond':
      return (
        textContent('vote-text', '', { response: said.response ?? null }).digest ===
        textContent('vote-text', '', { response: command.response }).digest
      );
  }
}

/** An earlier vote that an edit has made void is no repeat: the same word is now a new vote. */
const isCurrent = (state: RequestState, earlier: Vote): boolean =>
  earlier.word === 'edit' ? earlier.editedDigest === state.effectiveDigest : countingApprovals(state).includes(earlier);

function refuseOwnApproval(state: RequestState, voter: Principal, word: VoteWord): void {
  const refuse = (why: string): never => {
    throw new CountersignError('SELF_APPROVAL', `${why}, so your ${word} would not count. You may still reject.`);
  };
  if (isCalled(voter, state.requestedBy)) refuse('You asked for this');
  if (state.onBehalfOf !== undefined && isCalled(voter, state.onBehalfOf)) refuse('This is done on your behalf');
  if (word !== 'edit' && state.editors.includes(voter.id)) refuse('You edited the arguments, others decide');
}

function cast(
  state: PendingState,
  command: VoteCommand,
  edited: Edit | undefined,
  { voter, now, salt, judge }: VoteContext,
  roles: string[],
): Step {
  checkSize('note', command.note);
  const response = command.decision === 'respond' ? command.response : undefined;
  checkSize('response', response);
  const text =
    command.note === undefined && response === undefined
      ? undefined
      : textContent('vote-text', salt, { note: command.note, response });
  const vote: Vote = {
    approver: voter.id,
    word: command.decision,
    roles,
    ...(command.argsDigest !== undefined && { argsDigest: command.argsDigest }),
    ...(text && { textDigest: text.digest }),
    ...(edited && { editedDigest: edited.content.digest }),
    at: now,
  };
  const contents = [text, edited?.content].filter((content) => content !== undefined);
  const voted: PendingState = { ...state, votes: [...state.votes, vote] };
  const { approver: _approver, at: _at, ...details } = vote;
  const decidedBy = [voter.id] as [string];
  const decision = <Word extends string>(word: Word, by: [string, ...string[]] = decidedBy): HumanDecision<Word> => ({
    word,
    source: 'human',
    decidedBy: by,
    decidedAt: now,
    ...(text && { textDigest: text.digest }),
  });
  const closed = (): PendingState => ({ ...voted, owed: {} });

  switch (command.decision) {
    case 'reject': {
      const after = withWake<RequestState>({
        ...closed(),
        status: 'REJECTED',
        decision: decision('reject'),
        closedAt: now,
      });
      return change(after, { type: 'request_rejected', details: { ...details, decidedBy } }, contents);
    }
    case 'respond': {
      const after = withWake<RequestState>({
        ...closed(),
        status: 'RESPONDED',
        decision: decision('respond'),
        closedAt: now,
      });
      return change(after, { type: 'request_responded', details: { ...details, decidedBy } }, contents);
    }
    case 'approve': {
      const votes = countingApprovals(voted);
      if (!quorumMet(state.approvals, votes))
        return change(withWake<RequestState>(voted), { type: 'vote_recorded', details }, contents);
      return approved(decision('approve', deciders(voted)));
    }
    case 'edit': {
      if (!edited) throw new Error('an edit has edited arguments');
      const { approvals, policy, judged } = judgedAgain(state, judge(edited.action));
      const seen = { ...details, ...judged };
      const effectiveDigest = edited.content.digest;
      const stricter: PendingState = { ...closed(), effectiveDigest, approvals, policy };
      if (votesNeeded(approvals) === 1) return approved(decision('edit'), stricter, seen);
      const asked = [...new Set([...approvals.map(({ role }) => role), ...state.asked])];
      const editors = [...new Set([...state.editors, voter.id])];
      const open: PendingState = { ...stricter, editors, asked };
      const after = { ...open, owed: askedDeliveries(open, now) };
      return change(withWake<RequestState>(after), { type: 'arguments_edited', details: seen }, contents);
    }
  }

  function approved(
    made: HumanDecision<'approve' | 'edit'>,
    from: PendingState = closed(),
    seen: VoteDetails = details,
  ): Step {
    const claimBy = addSeconds(now, state.policy.validForSeconds);
    const after = withWake<RequestState>({ ...from, status: 'APPROVED', decision: made, claimBy, closedAt: now });
    return change(
      after,
      { type: 'request_approved', details: { ...seen, decidedBy: made.decidedBy, claimBy } },
      contents,
    );
  }
}

/** Those whose votes fill the places of the quorum, in the order in which they voted; at least one, since the quorum is met. */
function deciders(state: PendingState): [string, ...string[]] {
  const votes = countingApprovals(state);
  const seated = new Set(fillPlaces(state.approvals, votes).map(({ approver }) => approver));
  const names = votes.map(({ approver }) => approver).filter((approver) => seated.has(approver));
  return [...new Set(names)] as [string, ...string[]];
}
