import { type Action, actionContent, type Content } from './action.ts';
import type { EntryEvent } from './audit-entry.ts';
import { isRepeatedFailure } from './bounds.ts';
import { canonicalJson, sha256Hex } from './canonical-json.ts';
import type { Counter } from './counter.ts';
import { withWake } from './deadline.ts';
import { askedDeliveries } from './deliveries.ts';
import { CountersignError } from './errors.ts';
import { repeatedFailure } from './escalation.ts';
import { type Evaluation, evaluate, factsOf, withoutReasons } from './evaluation.ts';
import { addSeconds, type Instant } from './instant.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Move } from './move.ts';
import { policyDigest } from './pinned-policy.ts';
import type { ActionPolicy, Effect, Matched, MissionPolicy, PinnedPolicy } from './policy.ts';
import type { Precedent } from './precedent.ts';
import { votesNeeded } from './quorum.ts';
import type { RequestFacts, RequestState } from './request.ts';
import { inEntry, type Places, reserveFor } from './reservation.ts';
import { sampleFor } from './sample.ts';
import { type Draw, drawAt, sampleRateOf } from './sampling.ts';
import { checkSize, textContent } from './texts.ts';
import { readWindows, windowsFor } from './window.ts';

/** An agent's question as it arrived, checked. */
export interface Question extends Action {
  runId: string;
  missionId: string;
  occurrenceId?: string | undefined;
  onBehalfOf?: string | undefined;
  contextSummary?: string | undefined;
  agentConfidence?: number | undefined;
  actionResult?: JsonValue | undefined;
  metadata?: JsonObject | undefined;
  traceId?: string | undefined;
  revisionOf?: string | undefined;
  timeoutSeconds?: number | undefined;
}

/**
 * The id that a retry finds again: 128 bits of SHA-256 over (requester, key), so the request item itself is the record of the
 * key. 22 characters of base64url.
 */
export const idFromKey = (requestedBy: string, key: JsonValue): string =>
  Buffer.from(sha256Hex(`countersign/request-id/v1\n${canonicalJson([requestedBy, key])}`), 'hex')
    .subarray(0, 16)
    .toString('base64url');

export interface CreationContext {
  requestId: string;
  requestedBy: string;
  now: Instant;
  /** Fresh random text for the commitment to the texts. */
  salt: string;
  /** Of the chain, or `genesis`: what a draw is made of. */
  previousHash: string;
  /** The one in force for this action with these novelty values. */
  precedent?: Precedent | undefined;
  /** How often the run has asked for this action since its first rejection, this time included. */
  attempt: number;
  /** The counters of the windows over the action, as they were read. */
  counters?: ReadonlyMap<string, Counter> | undefined;
  places?: Places | undefined;
  /** A request of the run in which a person approved other arguments in place of exactly these. */
  editedEarlier?: string | undefined;
  /** Nobody was told yet that the run keeps asking for this action. */
  tellsOfFailure?: boolean | undefined;
  /** What the run has come to, judged beside the rules. */
  imposed?: readonly Matched[];
}

/** The new request under the mission's policy and rules: open, or allowed or stopped at once. Its `version` and `lastEntry` are the writer's. */
export function ask(
  question: Question,
  mission: MissionPolicy,
  context: CreationContext,
): { after: RequestState; event: EntryEvent; contents: Content[]; moves: Move[] } {
  const { now, requestedBy, attempt } = context;
  const policy = mission.actions.get(question.actionName) ?? mission.unlisted;
  const action = actionContent(question);
  checkSize('actionArgs', question.actionArgs);
  const texts = requestTexts(question, context.salt);
  const { precedent, imposed = [], counters = new Map(), places = {}, editedEarlier } = context;
  const windows = windowsFor(mission, policy, question.actionName);
  const asking = { who: { ...question, requestedBy }, action: question, now, places };
  const facts = factsOf({ ...question, requestedBy, now, attempt, windows: readWindows(windows, counters, asking) });
  const judged = evaluate(policy, mission, facts, { ...(precedent && { own: 'allow' }), imposed });
  const { reserved, moves } = reserveFor(judged.effect, context.requestId, windows, counters, asking);
  const relied = isReliedOn(judged) ? precedent : undefined;
  const sample = sampleOf(policy, judged, question, { ...context, textsDigest: texts.digest });
  const pinned = pin(policy, mission, judged, question.timeoutSeconds);

  const asked: RequestFacts = {
    requestId: context.requestId,
    ...named(question),
    requestedBy,
    requestedAt: now,
    argsDigest: action.digest,
    effectiveDigest: action.digest,
    textsDigest: texts.digest,
    bodyDigest: bodyDigest(question),
    policy: pinned,
    missionRoles: [...mission.roles],
    attempt,
    ...(reserved.length > 0 && { reserved }),
    ...(editedEarlier !== undefined && { editedEarlier }),
    ...(sample && { sample }),
    ...(relied && { precedent: refTo(relied) }),
    approvals: judged.approvals,
    asked: judged.approvals.map(({ role }) => role),
    level: 0,
    deadline: addSeconds(now, pinned.timeoutSeconds),
    votes: [],
    editors: [],
    lateAttempts: {},
    owed: {},
    delivered: {},
    version: 0,
    lastEntry: { sequence: 0, hash: '' },
  };
  const after = withWake(stateAt(judged.effect, asked));
  const { onBehalfOf, approvals, deadline } = after;
  const escalation =
    context.tellsOfFailure && isRepeatedFailure(judged.matched) ? repeatedFailure(after, policy) : undefined;
  return {
    after,
    event: {
      type: 'request_created',
      details: {
        actionDigest: action.digest,
        textsDigest: texts.digest,
        requestedBy,
        ...(onBehalfOf !== undefined && { onBehalfOf }),
        status: after.status,
        policy: policy.policy,
        ...(judged.matched.length > 0 && { matched: withoutReasons(judged.matched) }),
        policyDigest: policyDigest(after),
        approvals,
        deadline,
        ...(sample && { sample }),
        ...(relied && { precedent: refTo(relied) }),
        ...inEntry(after),
        ...(escalation && { escalationId: escalation.escalationId }),
      },
    },
    contents: [action, texts],
    moves: [
      ...moves,
      ...(escalation ? [{ kind: 'escalation', escalation } as const] : []),
      ...(relied ? [{ kind: 'precedent-relied-on', precedent: relied } as const] : []),
      ...(sample?.sampled ? [{ kind: 'sample', sample: sampleFor(after) } as const] : []),
    ],
  };
}

function stateAt(effect: Effect, facts: RequestFacts): RequestState {
  switch (effect) {
    case 'allow':
      return allowed(facts);
    case 'pause':
      return open(facts);
    case 'stop':
      return stopped(facts);
  }
}

const open = (facts: RequestFacts): RequestState => {
  const pending: RequestState = { ...facts, status: 'PENDING' };
  return { ...pending, owed: askedDeliveries(pending, facts.requestedAt) };
};

const allowed = (facts: RequestFacts): RequestState => ({
  ...facts,
  status: 'APPROVED',
  decision: { word: 'approve', source: 'policy', decidedBy: [], decidedAt: facts.requestedAt },
  claimBy: addSeconds(facts.requestedAt, facts.policy.validForSeconds),
  closedAt: facts.requestedAt,
});

const stopped = (facts: RequestFacts): RequestState => ({
  ...facts,
  status: 'REJECTED',
  decision: { word: 'reject', source: 'policy', decidedBy: [], decidedAt: facts.requestedAt },
  closedAt: facts.requestedAt,
});

/** Whether a retry says the same thing: everything that was asked, not only the action. */
export const bodyDigest = (question: Question): string => `sha256:${sha256Hex(canonicalJson(question))}`;

function named(question: Question) {
  const { runId, missionId, phase, actionName } = question;
  const { occurrenceId, sourceAgent, targetAgent, onBehalfOf, traceId, revisionOf } = question;
  return {
    runId,
    missionId,
    phase,
    actionName,
    ...(occurrenceId !== undefined && { occurrenceId }),
    ...(sourceAgent !== undefined && { sourceAgent }),
    ...(targetAgent !== undefined && { targetAgent }),
    ...(onBehalfOf !== undefined && { onBehalfOf }),
    ...(traceId !== undefined && { traceId }),
    ...(revisionOf !== undefined && { revisionOf }),
  };
}

function requestTexts(question: Question, salt: string): Content {
  const { contextSummary, agentConfidence, actionResult, metadata } = question;
  checkSize('contextSummary', contextSummary);
  checkSize('actionResult', actionResult);
  checkSize('metadata', metadata);
  return textContent('request-texts', salt, { contextSummary, agentConfidence, actionResult, metadata });
}

/** Without the precedent a person would have been asked: no rule allows it either. */
const isReliedOn = ({ effect, matched }: Evaluation): boolean =>
  effect === 'allow' && !matched.some((match) => match.effect === 'allow');

const refTo = ({ precedentId, requestId }: Precedent) => ({ precedentId, requestId });

function sampleOf(
  policy: ActionPolicy,
  { effect }: Evaluation,
  { runId, agentConfidence }: Question,
  { requestId, previousHash, precedent, textsDigest }: CreationContext & { textsDigest: string },
): Draw | undefined {
  const novel = policy.policy === 'approval_novel' && !precedent;
  const rate = effect === 'allow' ? sampleRateOf(policy, { confidence: agentConfidence, novel }) : undefined;
  return rate === undefined ? undefined : drawAt(rate, { runId, requestId, previousHash, textsDigest });
}

function pin(
  policy: ActionPolicy,
  mission: MissionPolicy,
  { matched, approvals, timeoutSeconds }: Evaluation,
  shortened: number | undefined,
): PinnedPolicy {
  if (shortened !== undefined && shortened > timeoutSeconds)
    throw new CountersignError(
      'VALIDATION_FAILED',
      `/timeoutSeconds is ${shortened}; it may only shorten the policy's ${timeoutSeconds}.`,
    );
  return {
    name: policy.policy,
    version: mission.version,
    reason: policy.reason,
    matched,
    timeoutSeconds: shortened ?? timeoutSeconds,
    onTimeout: silenceAfter(policy, matched, approvals),
    escalateTo: policy.escalateTo,
    validForSeconds: policy.validForSeconds,
    ...(policy.holdSeconds !== undefined && { holdSeconds: policy.holdSeconds }),
    ...(mission.requireOutcome && { requireOutcome: true }),
    ...(policy.noveltyKey && { noveltyKey: policy.noveltyKey }),
    secretPaths: policy.secretPaths,
    approverRole: policy.approverRole,
    approvals,
  };
}

/** Silence lets nothing run that a rule paused, or that more than one person must approve. */
const silenceAfter = (
  { onTimeout }: ActionPolicy,
  matched: Evaluation['matched'],
  approvals: Evaluation['approvals'],
): ActionPolicy['onTimeout'] =>
  onTimeout === 'proceed' && (votesNeeded(approvals) > 1 || matched.some(({ effect }) => effect === 'pause'))
    ? 'reject'
    : onTimeout;
