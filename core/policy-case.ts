import * as z from 'zod';
import { checkBody } from './check-body.ts';
import { type Evaluation, evaluate, factsOf, type Step } from './evaluation.ts';
import { jsonObject, jsonValue } from './fields.ts';
import type { Effect, MissionPolicy, QuorumRole } from './policy.ts';
import { readWindows, windowsFor } from './window.ts';

/** One line of a table of cases: a step, and what the policy should make of it. */
const policyCase = z.strictObject({
  /** What the case is about, for whoever reads the table. */
  name: z.string().optional(),
  action: z.string().min(1),
  args: jsonObject.default({}),
  onBehalfOf: z.string().optional(),
  agent: z.string().optional(),
  confidence: z.number().min(0).max(1).optional(),
  phase: z.enum(['before', 'after']).optional(),
  result: jsonValue.optional(),
  attempt: z.int().min(1).optional(),
  /** What windows hold already, by id; nothing where it is not said. */
  windows: z
    .record(z.string(), z.strictObject({ sum: z.number().min(0).default(0), count: z.int().min(0).default(0) }))
    .optional(),
  now: z.iso.datetime({ precision: 3 }).optional(),
  expect: z.enum(['allow', 'pause', 'stop']),
  /** Ids of the rules that match: exactly these. */
  rules: z.array(z.string()).optional(),
  approvals: z.array(z.strictObject({ role: z.string(), count: z.int().min(1) })).optional(),
});

export type PolicyCase = z.infer<typeof policyCase>;

/** What a case takes for what it does not say. */
export const untold = {
  agent: 'agent',
  now: '2026-01-01T12:00:00.000Z',
  runId: 'run',
  phase: 'before',
  attempt: 1,
} as const;

/** Throws `VALIDATION_FAILED` with every problem of the table. */
export const checkCases = (value: unknown): PolicyCase[] =>
  checkBody(z.array(policyCase), value, Object.keys(policyCase.shape));

export const stepOf = (given: Omit<PolicyCase, 'expect'>, missionId: string): Step => ({
  actionName: given.action,
  actionArgs: given.args,
  runId: untold.runId,
  missionId,
  phase: given.phase ?? untold.phase,
  requestedBy: given.agent ?? untold.agent,
  agentConfidence: given.confidence,
  onBehalfOf: given.onBehalfOf,
  actionResult: given.result,
  now: given.now ?? untold.now,
  attempt: given.attempt ?? untold.attempt,
  ...(given.windows && { windows: new Map(Object.entries(given.windows)) }),
});

/** What the mission makes of a step that nothing is known of beside: no precedent, no earlier request of the run. */
export function judgeAlone(mission: MissionPolicy, step: Step): Evaluation {
  const policy = mission.actions.get(step.actionName) ?? mission.unlisted;
  const declared = windowsFor(mission, policy, step.actionName);
  const empty = readWindows(declared, new Map(), { who: step, action: step, now: step.now });
  const windows = new Map([...empty].map(([id, nothing]) => [id, step.windows?.get(id) ?? nothing]));
  return evaluate(policy, mission, factsOf({ ...step, windows }));
}

export interface CaseResult {
  effect: Effect;
  rules: string[];
  approvals: QuorumRole[];
  /** What differs from what the case expects; empty where it holds. */
  differences: string[];
}

export function runCase(mission: MissionPolicy, given: PolicyCase): CaseResult {
  const { effect, matched, approvals } = judgeAlone(mission, stepOf(given, mission.missionId));
  const rules = matched.map(({ ruleId }) => ruleId);
  const unreadable = matched.filter(({ reason }) => reason.startsWith('could not be evaluated'));
  const differences = [
    ...(effect === given.expect
      ? []
      : [`expected ${given.expect}`, ...unreadable.map(({ ruleId, reason }) => `${ruleId} ${reason}`)]),
    ...(given.rules && sorted(given.rules) !== sorted(rules)
      ? [`expected the rules ${given.rules.join(', ') || 'none'}`]
      : []),
    ...(given.approvals && quorum(given.approvals) !== quorum(approvals)
      ? [`expected ${quorum(given.approvals)}`]
      : []),
  ];
  return { effect, rules, approvals, differences };
}

const sorted = (names: readonly string[]): string => names.toSorted().join('\n');

export const quorum = (approvals: readonly QuorumRole[]): string =>
  approvals
    .map(({ role, count }) => `${count} × ${role}`)
    .toSorted()
    .join(' and ') || 'nobody';
