import { printArguments } from './alert-arguments.ts';
import { type AlertFacts, dayOf, printName, timeOf } from './alert-facts.ts';
import type { Instant } from './instant.ts';
import { votesGiven } from './quorum.ts';
import type { RequestState } from './request.ts';

/**
 * The body of a mail: whose turn it is, by when, what exactly will run, who asks and why it needs a person, where to
 * decide. Plain text; what the agent wrote about its own action is not in it.
 */
export function mailText(facts: AlertFacts): string {
  const { state, action, link, isAsked } = facts;
  const block = printArguments(facts.values);
  const lines = [
    turnOf(facts),
    '',
    printName(action.actionName),
    ...(isAsked ? [`By ${whenOf(state.deadline)}. ${afterwards(state)}`] : []),
    '',
    headingOf(facts),
    ...block,
    '',
    whoAsks(facts),
    `Why a person is asked: ${printName(state.policy.reason, 500)}`,
    '',
    `${isAsked ? 'Read and decide' : 'Read'}: ${link}`,
    'Opening the link decides nothing. Any other link in this mail was written by the agent.',
    '',
    'The lines below are added by Amazon. Unsubscribing there needs your administrator.',
  ];
  return `${lines.join('\n')}\n`;
}

const whenOf = (instant: Instant): string => `${dayOf(instant)} ${instant.slice(0, 4)} ${timeOf(instant)}`;

function turnOf({ state, owed, isAsked }: AlertFacts): string {
  const role = printName(owed.role);
  if (!isAsked) return `${role}: this no longer waits for you. ${whatBecameOf(state)}`;
  const { given, needed } = votesGiven(state);
  const votes = `${given} of ${needed} ${needed === 1 ? 'vote' : 'votes'} given`;
  switch (owed.kind) {
    case 'asked':
      return `${role}: you are asked to decide (${votes}).`;
    case 'escalated':
      return `${role}: you are asked now (${votes}). Those who were asked before you did not give enough votes in time.`;
  }
}

function whatBecameOf(state: RequestState): string {
  switch (state.status) {
    case 'PENDING':
      return `It waits for ${listOf(state.asked)} now, until ${whenOf(state.deadline)}.`;
    case 'APPROVED':
      switch (state.decision.source) {
        case 'human':
          return `It was approved by ${listOf(state.decision.decidedBy)} at ${whenOf(state.closedAt)}.`;
        case 'policy':
          return `The policy let it run at ${whenOf(state.closedAt)}.`;
        case 'timeout':
          return `Time was over at ${whenOf(state.closedAt)}; nobody decided, and the policy lets it run then.`;
      }
      break;
    case 'REJECTED':
      return `It was rejected by ${listOf(state.decision.decidedBy)} at ${whenOf(state.closedAt)}. Nothing ran.`;
    case 'RESPONDED':
      return `It was answered by ${listOf(state.decision.decidedBy)} at ${whenOf(state.closedAt)}.`;
    case 'TIMED_OUT':
      return `Time was over at ${whenOf(state.closedAt)}. Nobody decided.`;
    case 'CANCELLED':
      return `The agent took its question back at ${whenOf(state.closedAt)}.`;
    case 'REVOKED':
      return state.decision.source === 'human'
        ? `It was approved, and ${listOf(state.decision.decidedBy)} took the approval back at ${whenOf(state.closedAt)}.`
        : `It was approved, and the approval was not used in time. It ended at ${whenOf(state.closedAt)}.`;
  }
}

function afterwards({ policy, level }: RequestState): string {
  const next = policy.escalateTo[level];
  switch (policy.onTimeout) {
    case 'escalate':
      return next === undefined ? 'Then it ends without an approval.' : `Then ${printName(next)} is asked.`;
    case 'reject':
      return 'Then it ends without an approval.';
    case 'proceed':
      return 'Then it may run without an answer.';
  }
}

function headingOf({ isAsked, action, state, values }: AlertFacts): string {
  const edited =
    state.effectiveDigest === state.argsDigest
      ? ''
      : ` (arguments changed by ${listOf(state.editors)}; the agent asked for others)`;
  if (values.length === 0) return `No arguments${edited}.`;
  if (!isAsked) return `What it was, exactly${edited}`;
  switch (action.phase) {
    case 'before':
      return `What will run, exactly${edited}`;
    case 'after':
      return `What has run, exactly; may the run go on?${edited}`;
  }
}

function whoAsks({ state, action }: AlertFacts): string {
  const { sourceAgent, targetAgent } = action;
  const behalf = state.onBehalfOf === undefined ? '' : ` for ${printName(state.onBehalfOf)}`;
  const source = sourceAgent === undefined ? '' : `, from agent ${printName(sourceAgent)}`;
  const target = targetAgent === undefined ? '' : `, to agent ${printName(targetAgent)}`;
  return `Asked by ${printName(state.requestedBy)}${behalf}${source}${target}, in run ${printName(state.runId)}.`;
}

const mostListed = 5;

function listOf(names: readonly string[]): string {
  const listed = names.slice(0, mostListed).map((name) => printName(name));
  const others = names.length - listed.length;
  return [...listed, ...(others > 0 ? [`${others} more`] : [])].join(', ');
}
