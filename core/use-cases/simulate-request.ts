import { attemptKey, genesis } from '../audit-chain.ts';
import { checkBody } from '../check-body.ts';
import { ask, type Question } from '../creation.ts';
import { CountersignError } from '../errors.ts';
import { type Explained, explain, factsOf } from '../evaluation.ts';
import { isPlainId, plainId } from '../fields.ts';
import type { JsonValue } from '../json.ts';
import { boundVersion, missionInForce } from '../mission-in-force.ts';
import { pausesForOutcome } from '../outcome-owed.ts';
import type { Matched, QuorumRole } from '../policy.ts';
import { missionPolicy } from '../policy-document.ts';
import type { Policies, PolicyStore, PrecedentStore, RequestStore, World } from '../ports.ts';
import type { Principal } from '../principal.ts';
import { type Verdict, verdictOf } from '../request.ts';
import { readWindows, windowsFor } from '../window.ts';
import { createBody, stopsOf } from './create-request.ts';
import { documentFields, givenDocument } from './given-document.ts';
import { noSuchPolicy } from './read-policy.ts';
import { imposedBy, roomFor } from './room-for.ts';

/** `POST /v1/policies/{missionId}/simulation`: a create, and a document to try in place of what is in force. */
const simulationBody = createBody.extend({
  ...documentFields,
  runId: plainId.optional(),
  missionId: plainId.optional(),
});

export interface Simulation {
  verdict: Verdict;
  policy: { name: string; version: string; reason: string };
  matched: Matched[];
  approvals: QuorumRole[];
  timeoutSeconds: number;
  /** Every rule that was looked at, in order. */
  explanation: Explained[];
}

/**
 * What would be answered now, and why; nothing is written. With `runId` as the next request of that run and its owner, else as
 * the first one of a new run of the caller. Throws `NOT_FOUND`, `POLICY_INVALID`, what a create throws.
 */
export async function simulateRequest(
  { store, policies, world }: { store: PolicyStore & PrecedentStore & RequestStore; policies: Policies; world: World },
  { missionId, body, principal }: { missionId: string; body: JsonValue; principal: Principal },
): Promise<Simulation> {
  const { document, yaml, ...given } = checkBody(simulationBody, body, Object.keys(simulationBody.shape));
  if (given.missionId !== undefined && given.missionId !== missionId)
    throw new CountersignError('VALIDATION_FAILED', `/missionId is ${given.missionId}; the path names ${missionId}.`);
  if (!isPlainId(missionId)) throw noSuchPolicy(missionId);
  const tried = givenDocument(missionId, { document, yaml });
  const run = given.runId === undefined ? undefined : (await store.readTail(given.runId))?.run;
  const now = world.now();
  const head = await store.readHead(missionId);
  const mission = tried
    ? missionPolicy(tried)
    : await missionInForce(policies, missionId, head, boundVersion(head, run, now));
  if (!mission) throw noSuchPolicy(missionId);

  const question: Question = { ...given, runId: given.runId ?? 'simulation', missionId };
  const requestedBy = run?.requestedBy ?? principal.id;
  const attempt = (run?.attempts[attemptKey(question.actionName)] ?? 0) + 1;
  const asked = { question, mission, requestedBy, run, isKeyed: true };
  const room = await roomFor(store, asked, false);
  const { after: state } = ask(question, mission, {
    requestId: 'simulation',
    requestedBy,
    now,
    salt: '',
    previousHash: genesis,
    attempt,
    ...room,
    imposed: [...stopsOf(run), ...pausesForOutcome(run, now), ...imposedBy(asked, room, attempt)],
  });
  const rules = mission.actions.get(question.actionName) ?? mission.unlisted;
  const windows = readWindows(windowsFor(mission, rules, question.actionName), room.counters, {
    who: { ...question, requestedBy },
    action: question,
    now,
  });
  return {
    verdict: verdictOf(state.status),
    policy: { name: state.policy.name, version: mission.version, reason: state.policy.reason },
    matched: state.policy.matched,
    approvals: state.approvals,
    timeoutSeconds: state.policy.timeoutSeconds,
    explanation: explain(rules, mission, factsOf({ ...question, requestedBy, now, attempt, windows })),
  };
}
