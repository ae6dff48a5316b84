import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Action } from './action.ts';
import { celValue, type Facts, facts } from './condition.ts';
import { type Instant, toMilliseconds } from './instant.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ActionPolicy, Effect, Matched, MissionPolicy, QuorumRole, Rule } from './policy.ts';
import type { StoredRequest } from './ports.ts';
import { stricterOf } from './quorum.ts';
import { readTexts } from './texts.ts';
import { type Counters, readWindows, type WindowReading, windowsFor } from './window.ts';

/** One step as rules see it. What the agent says of itself lies under `args`, `result` and `agent.confidence`. */
export interface Step {
  actionName: string;
  actionArgs: JsonObject;
  runId: string;
  missionId: string;
  phase: 'before' | 'after';
  /** From the verified token. */
  requestedBy: string;
  agentConfidence?: number | undefined;
  onBehalfOf?: string | undefined;
  actionResult?: JsonValue | undefined;
  now: Instant;
  /** 1 the first time that the run asks for this action since it began, or was last refused. */
  attempt: number;
  /** The windows that can be read, by id. */
  windows?: ReadonlyMap<string, WindowReading> | undefined;
}

/** What counts beside the rules. */
export interface Beside {
  /** What the action's own policy says, where something known of the action changes it: a precedent. */
  own?: Effect | undefined;
  /** What the run has come to; judged like rules that matched. Their ids hold a colon, which no rule's does. */
  imposed?: readonly Matched[];
}

/** What the policy and its rules make of a step. */
export interface Evaluation {
  effect: Effect;
  /** Every rule that matched, and every one that could not be read. */
  matched: Matched[];
  /** With `pause`: which votes are needed. */
  approvals: QuorumRole[];
  timeoutSeconds: number;
}

export function factsOf(step: Step): Facts {
  const { agentConfidence, onBehalfOf, actionResult } = step;
  return facts({
    args: celValue(step.actionArgs),
    action: new Map([['name', step.actionName]]),
    run: new Map([['id', step.runId]]),
    mission: new Map([['id', step.missionId]]),
    agent: new Map<string, string | number>([
      ['name', step.requestedBy],
      ...(agentConfidence === undefined ? [] : [['confidence', agentConfidence] as const]),
    ]),
    subject: new Map(onBehalfOf === undefined ? [] : [['id', onBehalfOf]]),
    phase: step.phase,
    now: timestampFromMs(toMilliseconds(step.now)),
    attempt: BigInt(step.attempt),
    window: windowFacts(step.windows),
    ...(actionResult !== undefined && { result: celValue(actionResult) }),
  });
}

/** One that cannot be read is no member: a condition that names it fails. */
const windowFacts = (windows: ReadonlyMap<string, WindowReading> = new Map()) =>
  new Map(
    [...windows].map(
      ([id, { sum, count }]) =>
        [
          id,
          new Map<string, number | bigint>([
            ['sum', sum],
            ['count', BigInt(count)],
          ]),
        ] as const,
    ),
  );

/**
 * Stop beats pause beats allow beats the action's own policy. A rule that cannot be read is a pause that says so: nothing
 * unreadable ever allows.
 */
export function evaluate(
  policy: ActionPolicy,
  mission: Pick<MissionPolicy, 'rules'>,
  facts: Facts,
  { own = ownEffect(policy), imposed = [] }: Beside = {},
): Evaluation {
  const judged: Judged[] = [
    ...imposed.map((match) => ({ match, rule: {} })),
    ...[...mission.rules, ...policy.rules].flatMap((rule) => judge(rule, facts)),
  ];
  const effect = strictest(judged.map(({ match }) => match.effect)) ?? own;
  const pausing = judged.filter(({ match }) => match.effect === 'pause');
  return {
    effect,
    matched: judged.map(({ match }) => match),
    approvals: effect === 'pause' ? approvalsFor(policy, pausing) : [],
    timeoutSeconds: Math.min(policy.timeoutSeconds, ...pausing.map(({ rule }) => rule.timeoutSeconds ?? Infinity)),
  };
}

interface Judged {
  match: Matched;
  rule: Pick<Rule, 'approvals' | 'timeoutSeconds'>;
  /** Nobody knows whether it holds: what it asks for counts, and what holds without it counts too. */
  unreadable?: true;
}

function judge(rule: Rule, facts: Facts): Judged[] {
  const truth = rule.condition.evaluate(facts);
  if ('unreadable' in truth) {
    const reason = `could not be evaluated: ${truth.unreadable}`;
    const asks = rule.effect === 'pause' ? rule : {};
    return [{ match: { ruleId: rule.id, effect: 'pause', reason }, rule: asks, unreadable: true }];
  }
  return truth.value ? [{ match: { ruleId: rule.id, effect: rule.effect, reason: rule.reason }, rule }] : [];
}

const strictest = (effects: Effect[]): Effect | undefined =>
  (['stop', 'pause', 'allow'] as const).find((effect) => effects.includes(effect));

const ownEffect = ({ approvals }: ActionPolicy): Effect => (approvals.length > 0 ? 'pause' : 'allow');

/** What one rule makes of a step. */
export interface Explained {
  ruleId: string;
  effect: Effect;
  result: boolean | 'unreadable';
  reason: string;
}

/** Every rule that was looked at, also those that did not match. */
export const explain = (
  policy: Pick<ActionPolicy, 'rules'>,
  mission: Pick<MissionPolicy, 'rules'>,
  facts: Facts,
): Explained[] =>
  [...mission.rules, ...policy.rules].map(({ id, effect, reason, condition }) => {
    const truth = condition.evaluate(facts);
    return 'unreadable' in truth
      ? { ruleId: id, effect: 'pause', result: 'unreadable', reason: truth.unreadable }
      : { ruleId: id, effect, result: truth.value, reason };
  });

/** What the pausing rules ask for, the larger count for each role; and the policy's own quorum, unless every one of them names its own. */
function approvalsFor(policy: ActionPolicy, pausing: Judged[]): QuorumRole[] {
  const own = policy.approvals.length > 0 ? policy.approvals : [{ role: policy.approverRole, count: 1 }];
  const lists = pausing.flatMap(({ rule, unreadable }) => [rule.approvals ?? own, ...(unreadable ? [own] : [])]);
  return stricterOf(...(lists.length > 0 ? lists : [own]));
}

/** As they stand in the audit: a reason may quote what the agent wrote. */
export const withoutReasons = (matched: readonly Matched[]): Pick<Matched, 'ruleId' | 'effect'>[] =>
  matched.map(({ ruleId, effect }) => ({ ruleId, effect }));

/**
 * The rules of the mission, run again on a request that exists, with another action in its place or the same. A mission that
 * is gone has no rules: the request carries its own authority.
 */
export function judgeAgain(
  { state, contents }: StoredRequest,
  action: Action,
  mission: MissionPolicy | undefined,
  now: Instant,
  counters: Counters = new Map(),
): Evaluation {
  if (!mission)
    return { effect: 'pause', matched: [], approvals: state.approvals, timeoutSeconds: state.policy.timeoutSeconds };
  const { agentConfidence, actionResult } = readTexts(contents, state.textsDigest) ?? {};
  const policy = mission.actions.get(action.actionName) ?? mission.unlisted;
  const windows = windowsFor(mission, policy, action.actionName);
  const facts = factsOf({
    ...state,
    ...action,
    now,
    windows: readWindows(windows, counters, { who: state, action, now, own: state.reserved ?? [] }),
    actionResult,
    ...(typeof agentConfidence === 'number' && { agentConfidence }),
  });
  return evaluate(policy, mission, facts);
}
