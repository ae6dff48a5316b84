import { type Formula, formulaOf, placesOf, sizeOf } from './condition-logic.ts';
import type { ActionPolicy, MissionPolicy, QuorumRole } from './policy.ts';
import type { PolicyDocument, RuleDocument } from './policy-schema.ts';

type FindingKind =
  | 'proceeds-on-irreversible'
  | 'quorum-nobody-can-meet'
  | 'escalates-to-the-same'
  | 'timeout-too-short'
  | 'never-matches'
  | 'shadowed';

/** Something that a valid policy document says and its owner can hardly mean. */
export interface Finding {
  kind: FindingKind;
  /** The rule that it is about, if it is about one. */
  ruleId?: string;
  /** A JSON Pointer into the document. */
  place: string;
  why: string;
  /** What to do about it. */
  todo: string;
}

/** Who holds which role: role → people. */
export type RoleHolders = ReadonlyMap<string, readonly string[]>;

export interface LintedRule {
  rule: RuleDocument;
  path: (string | number)[];
  formula: Formula;
}

/** An action with its rules, or (without a name) the mission as a whole. */
export interface Scope {
  name: string | undefined;
  policy: ActionPolicy;
  path: (string | number)[];
  reversible: boolean | undefined;
  own: LintedRule[];
  /** What is so wherever these rules are looked at. */
  facts: Formula[];
  mission: LintedRule[];
}

/** The mission, and each of its actions. */
export function scopesOf(document: PolicyDocument, { actions, unlisted, missionId }: MissionPolicy): Scope[] {
  const linted = (rules: RuleDocument[] | undefined, path: (string | number)[]): LintedRule[] =>
    (rules ?? []).map((rule, index) => ({ rule, path: [...path, index], formula: formulaOf(rule.when) }));
  const mission = linted(document.rules, ['rules']);
  const known: Formula[] = [
    { kind: 'order', of: 'attempt', op: '>=', value: 1 },
    { kind: 'order', of: 'agent.confidence', op: '>=', value: 0 },
    { kind: 'order', of: 'agent.confidence', op: '<=', value: 1 },
    { some: ['before', 'after'].map((value) => ({ kind: 'equal', of: 'phase', value, not: false })) },
    { kind: 'equal', of: 'mission.id', value: missionId, not: false },
  ];
  const scopeOf = (own: LintedRule[], more: Formula[]): Pick<Scope, 'own' | 'mission' | 'facts'> => {
    const places = new Set([...own, ...mission].flatMap(({ formula }) => placesOf(formula)));
    const facts = [...known, ...more].filter((fact) => placesOf(fact).some((place) => places.has(place)));
    const sizes = [...places].filter((place) => place.startsWith(sizeOf('').slice(0, -1)));
    return {
      own,
      mission,
      facts: [...facts, ...sizes.map((of): Formula => ({ kind: 'order', of, op: '>=', value: 0 }))],
    };
  };
  return [
    { name: undefined, policy: unlisted, path: ['defaults'], reversible: undefined, ...scopeOf(mission, []) },
    ...Object.entries(document.actions).map(([name, action]): Scope => {
      const path = ['actions', name];
      const isThis: Formula = { kind: 'equal', of: 'action.name', value: name, not: false };
      return {
        name,
        policy: actions.get(name) ?? unlisted,
        path,
        reversible: action.risk?.reversible,
        ...scopeOf(linted(action.rules, [...path, 'rules']), [isThis]),
      };
    }),
  ];
}

/** Whom a rule asks, where it says so itself. */
export const asked = ({ approvals, approverRole }: RuleDocument): QuorumRole[] | undefined =>
  approvals ?? (approverRole === undefined ? undefined : [{ role: approverRole, count: 1 }]);
