import { fromCanonical } from './canonical-json.ts';
import { claimableAt } from './claim.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { maskSecrets } from './json-pointer.ts';
import { owesOutcome } from './outcome-owed.ts';
import type { StoredRequest } from './ports.ts';
import type { Principal } from './principal.ts';
import { awaitedRoles, countingApprovals, fillPlaces } from './quorum.ts';
import { type RequestState, verdictOf } from './request.ts';
import { readTexts } from './texts.ts';

/**
 * A request as it is answered (DESIGN §5). Values at the policy's secret paths are shown to the requester alone; to everybody
 * else they are `[hidden by policy, N characters]`.
 */
export function viewOf(request: StoredRequest, reader: Pick<Principal, 'id'>): JsonObject {
  const { state } = request;
  const { effectiveDigest, argsDigest, policy } = state;
  const hidden = reader.id === state.requestedBy ? [] : policy.secretPaths;
  const asked = actionOf(request, argsDigest);
  const texts = readTexts(request.contents, state.textsDigest) ?? {};
  const shown = maskSecrets({ ...asked, ...withoutSalt(texts) }, hidden) as JsonObject;
  const effective = maskSecrets({ actionArgs: actionOf(request, effectiveDigest).actionArgs }, hidden).actionArgs;
  return defined({
    requestId: state.requestId,
    runId: state.runId,
    missionId: state.missionId,
    occurrenceId: state.occurrenceId,
    ...shown,
    argsDigest,
    onBehalfOf: state.onBehalfOf,
    traceId: state.traceId,
    revisionOf: state.revisionOf,
    editedEarlier: state.editedEarlier,
    requestedBy: state.requestedBy,
    requestedAt: state.requestedAt,
    status: state.status,
    verdict: verdictOf(state.status),
    policy: {
      name: policy.name,
      version: policy.version,
      reason: policy.reason,
      matched: policy.matched.map((match) => ({ ...match })),
    },
    approvals: state.approvals.map(({ role, count }) => ({ role, count })),
    approverRole: state.asked[0] ?? policy.approverRole,
    awaits: awaitedRoles(state),
    level: state.level,
    deadline: state.deadline,
    votes: votesOf(request),
    effectiveArgs: effective,
    effectiveDigest,
    sampled: mayKnowOfDraw(state, reader) ? state.sample?.sampled : undefined,
    precedent: state.precedent && { ...state.precedent },
    outcomeOwed: owesOutcome(state) ? true : undefined,
    delivery: { owed: Object.keys(state.owed), delivered: state.delivered },
    version: state.version,
    ...resultOf(request, effective),
  });
}

/** The requester hears of the draw when the action is over: else it could ask anew until it is not drawn. */
const mayKnowOfDraw = (state: RequestState, { id }: Pick<Principal, 'id'>): boolean =>
  id !== state.requestedBy || (state.status === 'APPROVED' && state.outcome !== undefined);

/** What became of it, as far as anything has. */
function resultOf({ state, contents }: StoredRequest, effective: JsonValue): Record<string, JsonValue | undefined> {
  switch (state.status) {
    case 'PENDING':
      return {};
    case 'CANCELLED':
      return { cancelledBy: state.cancelledBy, closedAt: state.closedAt };
    case 'APPROVED': {
      const { claim, outcome, claimBy } = state;
      const edited: JsonObject =
        state.effectiveDigest === state.argsDigest || effective === undefined ? {} : { editedArgs: effective };
      return {
        decision: { ...decisionOf(state.decision, contents), ...edited },
        claimableAt: claimableAt(state),
        claimBy,
        claim: claim && { ...claim },
        outcome: outcome?.outcome,
        outcomeReportedAt: outcome?.reportedAt,
        result: readTexts(contents, outcome?.resultDigest)?.result,
      };
    }
    case 'REJECTED':
    case 'RESPONDED':
    case 'TIMED_OUT':
    case 'REVOKED':
      return { decision: decisionOf(state.decision, contents) };
  }
}

type Decided = Exclude<RequestState, { status: 'PENDING' | 'CANCELLED' }>;

function decisionOf(decision: Decided['decision'], contents: StoredRequest['contents']): JsonObject {
  const texts = 'textDigest' in decision ? readTexts(contents, decision.textDigest) : undefined;
  const { word, source, decidedBy, decidedAt } = decision;
  return defined({
    word,
    source,
    decidedBy: [...decidedBy],
    decidedAt,
    note: texts?.note,
    response: texts?.response,
  });
}

/** Each vote, with the role for which it counts. One given to arguments that an edit replaced is `void`. */
function votesOf({ state, contents }: StoredRequest): JsonValue[] {
  const counting = countingApprovals(state);
  const places = fillPlaces(state.approvals, counting);
  return state.votes.map((vote) => {
    const texts = readTexts(contents, vote.textDigest);
    const place = counting.includes(vote) ? places.find(({ approver }) => approver === vote.approver) : undefined;
    return defined({
      approver: vote.approver,
      word: vote.word,
      role: place?.role ?? vote.roles[0],
      note: texts?.note,
      at: vote.at,
      argsDigest: vote.argsDigest,
      void: vote.word === 'approve' && !counting.includes(vote) ? true : undefined,
    });
  });
}

function actionOf({ contents }: StoredRequest, digest: string): JsonObject & { actionArgs: JsonObject } {
  const canonical = contents.get(digest);
  if (canonical === undefined) throw new Error(`content ${digest} is missing`);
  return fromCanonical(canonical);
}

function withoutSalt(texts: JsonObject): JsonObject {
  const { salt: _salt, kind: _kind, ...rest } = texts;
  return rest;
}

/** Members that are not there are left out; `null` stays. */
const defined = (members: Record<string, JsonValue | undefined>): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
