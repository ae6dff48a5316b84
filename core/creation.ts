import { type Action, actionContent, type Content } from './action.ts';
import type { EntryEvent } from './audit-entry.ts';
import { canonicalJson, type Digest, digestOf, sha256Hex } from './canonical-json.ts';
import { withWake } from './deadline.ts';
import { askedDeliveries } from './deliveries.ts';
import { CountersignError } from './errors.ts';
import { addSeconds, type Instant } from './instant.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ActionPolicy, MissionPolicy, PinnedPolicy } from './policy.ts';
import type { RequestFacts, RequestState } from './request.ts';
import { checkSize, textContent } from './texts.ts';

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
  /** Uniform in [0, 1): decides whether a sampled action is drawn. */
  draw: number;
}

/** The new request under the mission's policy: open, or allowed at once. Its `version` and `lastEntry` are the writer's. */
export function ask(
  question: Question,
  mission: MissionPolicy,
  context: CreationContext,
): { after: RequestState; event: EntryEvent; contents: Content[] } {
  const { now, requestedBy } = context;
  const policy = mission.actions.get(question.actionName) ?? mission.unlisted;
  const action = actionContent(question);
  checkSize('actionArgs', question.actionArgs);
  const texts = requestTexts(question, context.salt);
  const sample = drawSample(policy, context.draw);
  const pinned = pin(policy, mission, question.timeoutSeconds);

  const facts: RequestFacts = {
    requestId: context.requestId,
    ...named(question),
    requestedBy,
    requestedAt: now,
    argsDigest: action.digest,
    effectiveDigest: action.digest,
    textsDigest: texts.digest,
    bodyDigest: bodyDigest(question),
    policy: pinned,
    ...(sample && { sample }),
    approvals: policy.approvals,
    asked: [...new Set(policy.approvals.map(({ role }) => role))],
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
  const after = withWake(policy.approvals.length === 0 ? allowed(facts) : open(facts));
  const { onBehalfOf, approvals, deadline } = after;
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
        policyDigest: policyDigest(pinned),
        approvals,
        deadline,
        ...(sample && { sample }),
      },
    },
    contents: [action, texts],
  };
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

/** What an entry says of the pinned policy: who changes it later shows. */
export const policyDigest = (policy: PinnedPolicy): Digest => digestOf(canonicalJson(policy));

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

const drawSample = (policy: ActionPolicy, draw: number): RequestFacts['sample'] =>
  policy.policy === 'sampling' && policy.sampleRate !== undefined
    ? { rate: policy.sampleRate, draw, sampled: draw < policy.sampleRate }
    : undefined;

function pin(policy: ActionPolicy, mission: MissionPolicy, shortened: number | undefined): PinnedPolicy {
  if (shortened !== undefined && shortened > policy.timeoutSeconds)
    throw new CountersignError(
      'VALIDATION_FAILED',
      `/timeoutSeconds is ${shortened}; it may only shorten the policy's ${policy.timeoutSeconds}.`,
    );
  return {
    name: policy.policy,
    version: mission.version,
    reason: policy.reason,
    matched: [],
    timeoutSeconds: shortened ?? policy.timeoutSeconds,
    onTimeout: policy.onTimeout,
    escalateTo: policy.escalateTo,
    validForSeconds: policy.validForSeconds,
    secretPaths: policy.secretPaths,
    approverRole: policy.approverRole,
  };
}
