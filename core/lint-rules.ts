import { always, canBeTrue, type Formula, implies, never, placesOf } from './condition-logic.ts';
import { asked, type Finding, type LintedRule, type Scope } from './lint-scopes.ts';
import { placeOf } from './policy-problems.ts';
import type { RuleDocument } from './policy-schema.ts';

export const neverMatches = ({ rule, path }: LintedRule): Finding => ({
  kind: 'never-matches',
  ruleId: rule.id,
  place: placeOf([...path, 'when']),
  why: `${rule.when} can never be true`,
  todo: 'correct the condition, or take the rule out',
});

const strictness = { allow: 0, pause: 1, stop: 2 } as const;

/** Rules that something else always decides: an allow under a pause, a pause under a stop, and what another rule says already. */
export function shadowFindings(scopes: readonly Scope[]): Finding[] {
  return scopes.flatMap(({ name, own, mission, facts }) =>
    own.flatMap((one, index): Finding[] => {
      if (!canBeTrue(...facts, one.formula)) return [];
      const others = name === undefined ? own : [...mission, ...own];
      const over = others.find((other) => other !== one && shadows(other, one, facts, own.indexOf(other) < index));
      return over ? [shadowed(one, over)] : [];
    }),
  );
}

function shadows(over: LintedRule, one: LintedRule, facts: Formula[], isEarlier: boolean): boolean {
  const more = strictness[over.rule.then] - strictness[one.rule.then];
  if (more < 0 || (more === 0 && !saysTheSame(over.rule, one.rule))) return false;
  if (!mayBear(over.formula, one.formula) || !implies(one.formula, over.formula, ...facts)) return false;
  if (more > 0) return true;
  const both = implies(over.formula, one.formula, ...facts);
  return both ? isEarlier : one.rule.then === 'allow';
}

/** Two rules of one effect differ where they ask others, or for another time. */
const saysTheSame = (over: RuleDocument, one: RuleDocument): boolean =>
  JSON.stringify([asked(over), over.timeoutSeconds]) === JSON.stringify([asked(one), one.timeoutSeconds]);

/** Whether one condition can say anything of the other at all; most pairs of rules cannot. */
function mayBear(over: Formula, one: Formula): boolean {
  if (over === always || one === never) return true;
  const places = placesOf(one);
  const mentioned = placesOf(over);
  return mentioned.length === 0 || mentioned.some((place) => places.some((other) => other.startsWith(place)));
}

const shadowed = ({ rule, path }: LintedRule, { rule: over }: LintedRule): Finding => ({
  kind: 'shadowed',
  ruleId: rule.id,
  place: placeOf(path),
  why:
    over.then === rule.then
      ? `wherever ${rule.id} matches, ${over.id} matches too and says the same`
      : `wherever ${rule.id} says ${rule.then}, ${over.id} says ${over.then}, which is stricter`,
  todo: `take ${rule.id} out, or narrow ${over.id} (${over.when})`,
});
