import { mutationsOf } from './condition-mutation.ts';
import type { Effect, MissionPolicy, Rule } from './policy.ts';
import { type PolicyCase, runCase } from './policy-case.ts';
import { missionPolicy } from './policy-document.ts';
import { placeOf } from './policy-problems.ts';
import type { PolicyDocument, RuleDocument } from './policy-schema.ts';
import { witnessOf } from './witness.ts';

/** The policy with one small mistake in it, which a good table of cases notices. */
export interface Mutant {
  ruleId: string;
  /** A JSON Pointer into the document. */
  place: string;
  was: string;
  is: string;
  mission: MissionPolicy;
}

/** A mutant that no case noticed, with the smallest request found that would notice it. */
export interface Survivor {
  mutant: Mutant;
  /** As a case of the table, with what the policy itself makes of it. Absent: nothing was found that tells the two apart. */
  witness?: PolicyCase;
}

const effects: readonly Effect[] = ['allow', 'pause', 'stop'];

/** Every mutant of every rule: operators flipped, bounds moved, effects swapped. */
export function mutantsOf(document: PolicyDocument): Mutant[] {
  const mission = missionPolicy(document);
  const rulesOf = (action: string | undefined) =>
    (action === undefined ? document.rules : document.actions[action]?.rules) ?? [];
  return [undefined, ...Object.keys(document.actions)].flatMap((action) =>
    rulesOf(action).flatMap((rule, index) =>
      mutantsOfRule(rule).map(({ was, is, part, changed }) => ({
        ruleId: rule.id,
        place: placeOf([...(action === undefined ? [] : ['actions', action]), 'rules', index, part]),
        was,
        is,
        mission: withRule(mission, action, index, compiled(changed, document)),
      })),
    ),
  );
}

/** The mutants that no case notices. All cases must hold for the policy itself. */
export function survivorsOf(
  document: PolicyDocument,
  cases: readonly PolicyCase[],
): { mutants: number; survivors: Survivor[] } {
  const mission = missionPolicy(document);
  const mutants = mutantsOf(document);
  const unnoticed = mutants.filter((mutant) =>
    cases.every((given) => runCase(mutant.mission, given).differences.length === 0),
  );
  const survivors = unnoticed.map((mutant): Survivor => {
    const witness = witnessOf(mission, mutant, document, cases);
    return { mutant, ...(witness && { witness }) };
  });
  return { mutants: mutants.length, survivors };
}

function mutantsOfRule(rule: RuleDocument) {
  const { approvals: _approvals, approverRole: _role, timeoutSeconds: _seconds, ...plain } = rule;
  return [
    ...mutationsOf(rule.when).map(({ source, was, is }) => ({
      was,
      is,
      part: 'when',
      changed: { ...rule, when: source },
    })),
    ...effects
      .filter((effect) => effect !== rule.then)
      // biome-ignore lint/suspicious/noThenProperty: the word of the language (DESIGN §6); nobody awaits a rule
      .map((effect) => ({ was: rule.then, is: effect, part: 'then', changed: { ...plain, then: effect } })),
  ];
}

/** Compiled apart from the others: a policy may have a thousand. */
function compiled(rule: RuleDocument, document: PolicyDocument): Rule {
  const [only] = missionPolicy({ ...document, actions: {}, rules: [rule] }).rules;
  if (!only) throw new Error(`the rule ${rule.id} is missing`);
  return only;
}

function withRule(mission: MissionPolicy, action: string | undefined, index: number, rule: Rule): MissionPolicy {
  if (action === undefined) return { ...mission, rules: mission.rules.with(index, rule) };
  const policy = mission.actions.get(action) ?? mission.unlisted;
  return {
    ...mission,
    actions: new Map([...mission.actions, [action, { ...policy, rules: policy.rules.with(index, rule) }]]),
  };
}
