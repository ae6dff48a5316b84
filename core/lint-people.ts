import { canBeTrue } from './condition-logic.ts';
import { asked, type Finding, type LintedRule, type RoleHolders, type Scope } from './lint-scopes.ts';
import type { QuorumRole } from './policy.ts';
import { placeOf } from './policy-problems.ts';
import type { PolicyDocument, RuleDocument } from './policy-schema.ts';
import { missingVotes, quorumMet, stricterOf } from './quorum.ts';

/** E-mail may take minutes, and people longer. */
const shortestTimeoutSeconds = 300;

/** Where silence is a yes to what it should not be. */
export function proceedFindings({ name, policy, path, reversible, own, mission }: Scope): Finding[] {
  if (name === undefined || policy.onTimeout !== 'proceed') return [];
  const place = placeOf([...path, 'onTimeout']);
  const pausing = [...mission, ...own].filter(({ rule }) => rule.then === 'pause');
  if (policy.approvals.length > 0) {
    const irreversible =
      reversible === false ? 'cannot be taken back' : `is an ${policy.policy}, which is for what cannot be taken back`;
    return [
      {
        kind: 'proceeds-on-irreversible',
        place,
        why: `${name} ${irreversible}, and runs by itself when nobody answers`,
        todo: 'say onTimeout: reject, or escalate to somebody who answers; where it can be taken back, say risk: { reversible: true, … } instead',
      },
    ];
  }
  return pausing.map(({ rule }) => ({
    kind: 'proceeds-on-irreversible',
    ruleId: rule.id,
    place,
    why: `the rule ${rule.id} asks people about ${name}, and it runs by itself when they do not answer`,
    todo: 'say onTimeout: reject or escalate for this action',
  }));
}

/** Where the votes that are needed cannot come together. */
export function quorumFindings(
  { name, policy, path, own, mission, facts }: Scope,
  holders: RoleHolders | undefined,
): Finding[] {
  const here = name ?? 'an action that is not listed';
  const findings: Finding[] = [];
  const require = (approvals: readonly QuorumRole[], place: (string | number)[], what: string, ruleId?: string) => {
    const missing = holders ? missingOf(approvals, holders) : undefined;
    if (missing !== undefined)
      findings.push({
        kind: 'quorum-nobody-can-meet',
        ...(ruleId !== undefined && { ruleId }),
        place: placeOf(place),
        why: `${what} needs ${listed(approvals)}; with the people given, ${missing}`,
        todo: 'give the role to more people, ask for fewer of them, or ask another role',
      });
  };
  if (policy.approvals.length > 0) require(policy.approvals, path, here);
  const asking = (rule: RuleDocument) =>
    asked(rule) ?? (policy.approvals.length > 0 ? policy.approvals : [{ role: policy.approverRole, count: 1 }]);
  const pausing = (rules: LintedRule[]) => rules.filter(({ rule }) => rule.then === 'pause');
  for (const [index, { rule, path: place, formula }] of pausing(own).entries()) {
    if (name !== undefined || asked(rule)) require(asking(rule), place, `the rule ${rule.id}`, rule.id);
    const others = [...pausing(own).slice(index + 1), ...(name === undefined ? [] : pausing(mission))];
    for (const other of others)
      if (findings.length === 0 && asked(rule) && asked(other.rule) && canBeTrue(...facts, formula, other.formula))
        require(stricterOf(
          asking(rule),
          asking(other.rule),
        ), place, `${rule.id} together with ${other.rule.id}`, rule.id);
  }
  return [...findings, ...escalationFindings({ name, policy, path }, here, holders)];
}

function escalationFindings(
  { policy, path }: Pick<Scope, 'name' | 'policy' | 'path'>,
  here: string,
  holders: RoleHolders | undefined,
): Finding[] {
  if (policy.onTimeout !== 'escalate') return [];
  const before = new Set(
    policy.approvals.length > 0 ? policy.approvals.map(({ role }) => role) : [policy.approverRole],
  );
  return policy.escalateTo.flatMap((role, index): Finding[] => {
    const place = placeOf([...path, 'escalateTo', index]);
    const again = before.has(role);
    before.add(role);
    if (again)
      return [
        {
          kind: 'escalates-to-the-same',
          place,
          why: `${here} goes on to ${role}, who were asked before and did not answer`,
          todo: 'name a role that was not asked yet, or say onTimeout: reject',
        },
      ];
    if (holders && (holders.get(role) ?? []).length === 0)
      return [
        {
          kind: 'quorum-nobody-can-meet',
          place,
          why: `${here} goes on to ${role}, a role that nobody holds`,
          todo: 'give the role to somebody, or leave it out',
        },
      ];
    return [];
  });
}

function missingOf(approvals: readonly QuorumRole[], holders: RoleHolders): string | undefined {
  const people = [...new Set([...holders.values()].flat())].map((approver) => ({
    approver,
    roles: [...holders.keys()].filter((role) => holders.get(role)?.includes(approver)),
  }));
  return quorumMet(approvals, people) ? undefined : `${listed(missingVotes(approvals, people))} will always be missing`;
}

const listed = (approvals: readonly QuorumRole[]): string =>
  approvals.map(({ role, count }) => `${count} × ${role}`).join(' and ');

/** Where nobody can have read the question in time. */
export function timeoutFindings(
  { defaults, actions, rules = [] }: PolicyDocument,
  scopes: readonly Scope[],
): Finding[] {
  const tooShort = (seconds: number | undefined, path: (string | number)[], ruleId?: string): Finding[] =>
    seconds === undefined || seconds >= shortestTimeoutSeconds
      ? []
      : [
          {
            kind: 'timeout-too-short',
            ...(ruleId !== undefined && { ruleId }),
            place: placeOf([...path, 'timeoutSeconds']),
            why: `people are asked by e-mail and have ${seconds} seconds`,
            todo: `give them ${shortestTimeoutSeconds} seconds or more`,
          },
        ];
  const asksPeople = ({ policy, own }: Scope) =>
    policy.approvals.length > 0 || [...own.map(({ rule }) => rule), ...rules].some((rule) => rule.then === 'pause');
  return [
    ...tooShort(defaults.timeoutSeconds, ['defaults']),
    ...scopes.flatMap((scope) =>
      scope.name !== undefined && asksPeople(scope) ? tooShort(actions[scope.name]?.timeoutSeconds, scope.path) : [],
    ),
    ...scopes.flatMap(({ own }) => own.flatMap(({ rule, path }) => tooShort(rule.timeoutSeconds, path, rule.id))),
  ];
}
