import { canonicalJson } from './canonical-json.ts';
import type { PolicyDocument } from './policy-schema.ts';

/** Names only: of actions, of rules (those of one action as `<action>/<id>`), of the other members of the document. */
export type PolicyDiff = {
  actions: { added: string[]; removed: string[]; changed: string[] };
  rules: { added: string[]; removed: string[]; changed: string[] };
  settings: { added: string[]; removed: string[]; changed: string[] };
};

/** What one version does to the one before it. An action is changed by what it says itself; its rules are told apart. */
export const diffOf = (before: PolicyDocument | undefined, after: PolicyDocument): PolicyDiff => ({
  actions: changes(actionsOf(before), actionsOf(after)),
  rules: changes(rulesOf(before), rulesOf(after)),
  settings: changes(settingsOf(before), settingsOf(after)),
});

type Named = ReadonlyMap<string, unknown>;

const actionsOf = (document: PolicyDocument | undefined): Named =>
  new Map(Object.entries(document?.actions ?? {}).map(([name, { rules: _, ...own }]) => [name, own]));

const rulesOf = (document: PolicyDocument | undefined): Named =>
  new Map([
    ...(document?.rules ?? []).map((rule) => [rule.id, rule] as const),
    ...Object.entries(document?.actions ?? {}).flatMap(([name, { rules = [] }]) =>
      rules.map((rule) => [`${name}/${rule.id}`, rule] as const),
    ),
  ]);

function settingsOf(document: PolicyDocument | undefined): Named {
  const { mission: _mission, actions: _actions, rules: _rules, ...settings } = document ?? {};
  return new Map(Object.entries(settings));
}

function changes(before: Named, after: Named) {
  const isSame = (name: string) => canonicalJson(before.get(name) ?? null) === canonicalJson(after.get(name) ?? null);
  return {
    added: [...after.keys()].filter((name) => !before.has(name)).sort(),
    removed: [...before.keys()].filter((name) => !after.has(name)).sort(),
    changed: [...after.keys()].filter((name) => before.has(name) && !isSame(name)).sort(),
  };
}
