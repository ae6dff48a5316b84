import { canBeTrue } from './condition-logic.ts';
import { proceedFindings, quorumFindings, timeoutFindings } from './lint-people.ts';
import { neverMatches, shadowFindings } from './lint-rules.ts';
import { type Finding, type RoleHolders, scopesOf } from './lint-scopes.ts';
import { missionPolicy } from './policy-document.ts';
import type { PolicyDocument } from './policy-schema.ts';

/** What is wrong with a checked document. With `holders`, also whether its quorums can be met by the people that there are. */
export function lintPolicy(document: PolicyDocument, holders?: RoleHolders): Finding[] {
  const mission = missionPolicy(document);
  const scopes = scopesOf(document, mission);
  return [
    ...scopes.flatMap((scope) => proceedFindings(scope)),
    ...scopes.flatMap((scope) => quorumFindings(scope, holders)),
    ...timeoutFindings(document, scopes),
    ...scopes.flatMap((scope) =>
      scope.own.filter(({ formula }) => !canBeTrue(...scope.facts, formula)).map(neverMatches),
    ),
    ...shadowFindings(scopes),
  ];
}
