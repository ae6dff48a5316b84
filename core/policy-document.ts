import { defaultMaxAttempts } from './bounds.ts';
import { canonicalJson, sha256Hex } from './canonical-json.ts';
import { compileCondition } from './condition.ts';
import { CountersignError } from './errors.ts';
import type { ActionPolicy, MissionPolicy, QuorumRole, Rule } from './policy.ts';
import { boundsOf, windowOf, windowProblems } from './policy-bounds.ts';
import { givenAndAllowed, ownMember, placeOf } from './policy-problems.ts';
import {
  type ActionDocument,
  defaultValidForSeconds,
  type PolicyDocument,
  policyDocument,
  policyOf,
  type RuleDocument,
} from './policy-schema.ts';

export type { PolicyDocument } from './policy-schema.ts';

const defaultTimeoutSeconds = 3600;
const defaultSampleRate = 0.05;

/**
 * Checks a document that was read from JSON or YAML. Throws `POLICY_INVALID` naming every problem: where it is, what was
 * given and what is allowed; the same list stands in the error's member `problems`.
 */
export function checkPolicyDocument(value: unknown): PolicyDocument {
  const result = policyDocument.safeParse(value, { reportInput: true });
  const problems = result.success
    ? []
    : result.error.issues.map((issue) => `${placeOf(issue.path)} ${givenAndAllowed(issue)}`);
  // zod leaves such a member out without a word.
  if (ownMember(ownMember(value, 'actions'), '__proto__') !== undefined)
    problems.push(`${placeOf(['actions', '__proto__'])} is no name that an action can have`);
  if (result.success) problems.push(...conditionProblems(result.data), ...windowProblems(result.data));
  if (!result.success || problems.length > 0)
    throw new CountersignError('POLICY_INVALID', `The policy document is not valid: ${problems.join('; ')}.`, {
      problems,
    });
  return result.data;
}

/** A checked document with every default filled in. `version`: 12 hex digits of the SHA-256 of its canonical JSON. */
export function missionPolicy(document: PolicyDocument): MissionPolicy {
  const { mission, defaults, actions } = document;
  const named = Object.keys(actions).sort();
  const roles = [defaults.approverRole, ...(defaults.escalateTo ?? [])];
  const namesRoles = [...Object.values(actions), ...rulesOf(document).map(([, rule]) => rule)];
  for (const { approverRole, approvals = [] } of namesRoles)
    roles.push(...(approverRole ? [approverRole] : []), ...approvals.map(({ role }) => role));
  for (const { escalateTo = [] } of Object.values(actions)) roles.push(...escalateTo);
  return {
    missionId: mission,
    version: sha256Hex(canonicalJson(document)).slice(0, 12),
    document,
    actions: new Map(named.map((name) => [name, actionPolicy(actions[name] as ActionDocument, document)])),
    unlisted: actionPolicy(
      { policy: 'approval_gate', reason: 'The policy does not list this action, so a person decides' },
      document,
    ),
    rules: (document.rules ?? []).map((rule) => compileRule(rule, windowIds(document))),
    windows: (document.windows ?? []).map(windowOf),
    bounds: boundsOf(document),
    ...(document.agents && { agents: new Set(document.agents) }),
    ...(document.requireOutcome && { requireOutcome: true }),
    roles: new Set(roles.sort()),
  };
}

/** Every rule of the document, with its place. */
const rulesOf = ({ rules = [], actions }: PolicyDocument): [path: (string | number)[], RuleDocument][] => [
  ...rules.map((rule, index): [(string | number)[], RuleDocument] => [['rules', index], rule]),
  ...Object.entries(actions).flatMap(([name, { rules: own = [] }]) =>
    own.map((rule, index): [(string | number)[], RuleDocument] => [['actions', name, 'rules', index], rule]),
  ),
];

const windowIds = ({ windows = [] }: PolicyDocument): ReadonlySet<string> => new Set(windows.map(({ id }) => id));

function conditionProblems(document: PolicyDocument): string[] {
  const windows = windowIds(document);
  return rulesOf(document).flatMap(([path, { when }]) => {
    try {
      compileCondition(when, windows);
      return [];
    } catch (error) {
      return [`${placeOf([...path, 'when'])} ${error instanceof Error ? error.message : String(error)}`];
    }
  });
}

const compileRule = (rule: RuleDocument, windows: ReadonlySet<string>): Rule => ({
  id: rule.id,
  condition: compileCondition(rule.when, windows),
  effect: rule.then,
  reason: rule.reason ?? rule.when,
  ...(rule.approvals && { approvals: rule.approvals }),
  ...(rule.approverRole !== undefined && { approvals: [{ role: rule.approverRole, count: 1 }] }),
  ...(rule.timeoutSeconds !== undefined && { timeoutSeconds: rule.timeoutSeconds }),
});

function actionPolicy(action: ActionDocument, document: PolicyDocument): ActionPolicy {
  const { defaults } = document;
  const policy = policyOf(action) ?? 'approval_gate';
  const holdSeconds = action.holdSeconds ?? defaults.holdSeconds;
  const onTimeout = action.onTimeout ?? defaults.onTimeout ?? 'reject';
  const approverRole = action.approverRole ?? action.approvals?.[0]?.role ?? defaults.approverRole;
  return {
    policy,
    reason: action.reason,
    approverRole,
    approvals: approvalsFor(policy, action, approverRole),
    timeoutSeconds: action.timeoutSeconds ?? defaults.timeoutSeconds ?? defaultTimeoutSeconds,
    onTimeout,
    escalateTo: onTimeout === 'escalate' ? (action.escalateTo ?? defaults.escalateTo ?? []) : [],
    validForSeconds: action.validForSeconds ?? defaults.validForSeconds ?? defaultValidForSeconds,
    ...(holdSeconds !== undefined && { holdSeconds }),
    ...(action.noveltyKey && { noveltyKey: action.noveltyKey }),
    ...(policy === 'sampling' && { sampleRate: action.sampleRate ?? defaultSampleRate }),
    secretPaths: action.secretPaths ?? [],
    maxAttempts: action.maxAttempts ?? defaults.maxAttempts ?? document.maxAttempts ?? defaultMaxAttempts,
    rules: (action.rules ?? []).map((rule) => compileRule(rule, windowIds(document))),
  };
}

function approvalsFor(policy: ActionPolicy['policy'], action: ActionDocument, approverRole: string): QuorumRole[] {
  switch (policy) {
    case 'autonomous':
    case 'sampling':
      return [];
    case 'approval_novel':
    case 'approval_gate':
      return action.approvals ?? [{ role: approverRole, count: 1 }];
    case 'dual_approval':
      return [{ role: approverRole, count: 2 }];
  }
}
