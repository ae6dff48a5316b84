import { canonicalJson } from './canonical-json.ts';
import { isPast, withWake } from './deadline.ts';
import { decisionMembers } from './decision.ts';
import { askedDeliveries } from './deliveries.ts';
import { raisedBy } from './edit.ts';
import { CountersignError } from './errors.ts';
import { type Evaluation, withoutReasons } from './evaluation.ts';
import type { Instant } from './instant.ts';
import { policyDigest } from './pinned-policy.ts';
import type { MissionPolicy } from './policy.ts';
import { stricterOf } from './quorum.ts';
import type { PendingState, RequestState } from './request.ts';
import { change, type Step, same } from './step.ts';

/**
 * Another version of the rules on a request that waits. It can stop it, or ask for more votes; it never asks for less, gives no
 * more time, and approves nothing: what was loosened holds for requests that are asked anew. Throws `ALREADY_DECIDED`,
 * `DEADLINE_PASSED`.
 */
export function reevaluate(state: RequestState, judged: Evaluation, mission: MissionPolicy, now: Instant): Step {
  if (state.status !== 'PENDING')
    throw new CountersignError(
      'ALREADY_DECIDED',
      `The request is already ${state.status}; the rules are run again only on a pending one.`,
      decisionMembers(state),
    );
  if (isPast(state.deadline, now))
    throw new CountersignError('DEADLINE_PASSED', `The time was over at ${state.deadline}; nobody had decided.`, {
      deadline: state.deadline,
      status: state.status,
    });
  const next = judged.effect === 'stop' ? stopped(state, judged, mission, now) : raised(state, judged, mission, now);
  if (next.status === 'PENDING' && isUnchanged(state, next)) return same;
  const { effect, matched } = judged;
  return change(withWake(next), {
    type: 'request_reevaluated',
    details: {
      effect,
      status: next.status,
      asked: next.asked,
      policyDigest: policyDigest(next),
      approvals: next.approvals,
      ...(matched.length > 0 && { matched: withoutReasons(matched) }),
    },
  });
}

function stopped(state: PendingState, { matched }: Evaluation, mission: MissionPolicy, now: Instant): RequestState {
  return {
    ...state,
    policy: { ...state.policy, version: mission.version, matched },
    owed: {},
    status: 'REJECTED',
    decision: { word: 'reject', source: 'policy', decidedBy: [], decidedAt: now },
    closedAt: now,
  };
}

function raised(state: PendingState, judged: Evaluation, mission: MissionPolicy, now: Instant): PendingState {
  const approvals = judged.effect === 'pause' ? raisedBy(state, judged.approvals) : state.approvals;
  const { policy } = state;
  const next: PendingState = {
    ...state,
    approvals,
    asked: [...new Set([...state.asked, ...raisedRoles(state, approvals)])],
    policy: {
      ...policy,
      version: mission.version,
      // What paused it stays named, for that still holds.
      matched: [
        ...policy.matched.filter(({ ruleId }) => !judged.matched.some((match) => match.ruleId === ruleId)),
        ...judged.matched,
      ],
      approvals: judged.effect === 'pause' ? stricterOf(policy.approvals, judged.approvals) : policy.approvals,
      secretPaths: [...new Set([...policy.secretPaths, ...secretPathsOf(mission, state)])],
    },
    missionRoles: [...new Set([...state.missionRoles, ...mission.roles])],
  };
  const fresh = Object.entries(askedDeliveries(next, now)).filter(
    ([id]) => !Object.hasOwn(state.owed, id) && !Object.hasOwn(state.delivered, id),
  );
  return { ...next, owed: { ...state.owed, ...Object.fromEntries(fresh) } };
}

const raisedRoles = (state: PendingState, approvals: PendingState['approvals']): string[] =>
  approvals
    .filter(({ role, count }) => count > (state.approvals.find((known) => known.role === role)?.count ?? 0))
    .map(({ role }) => role);

const secretPathsOf = (mission: MissionPolicy, { actionName }: PendingState): string[] =>
  (mission.actions.get(actionName) ?? mission.unlisted).secretPaths;

const isUnchanged = (before: PendingState, after: PendingState): boolean =>
  before.policy.version === after.policy.version && canonicalJson(before.approvals) === canonicalJson(after.approvals);
