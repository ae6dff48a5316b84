import { canonicalJson } from '../../../core/canonical-json.ts';
import type { Move } from '../../../core/move.ts';
import type { PolicyHead } from '../../../core/published-policy.ts';
import { type Condition, sequenceFree } from '../conditions.ts';
import type { Connection } from '../connection.ts';
import { Expression } from '../expression.ts';
import { entryItem } from '../items.ts';
import type { Write } from '../move-write.ts';
import { headKey, versionKey } from '../policies.ts';

type Of<Kind extends Move['kind']> = Extract<Move, { kind: Kind }>;

const neverPublished: Condition = (expression) => `attribute_not_exists(${expression.name('missionId')})`;

/** A version, once forced or newest, never comes back, so these two say all. */
const stillAt =
  ({ newest, forced }: PolicyHead): Condition =>
  (expression) =>
    [
      `${expression.name('newest')} = ${expression.value(newest)}`,
      forced === undefined
        ? `attribute_not_exists(${expression.name('forced')})`
        : `${expression.name('forced')} = ${expression.value(forced)}`,
    ].join(' AND ');

export function putPolicyVersion({ policiesTable }: Connection, { published }: Of<'policy-version'>): Write {
  const { version, document, ...facts } = published;
  const item = {
    ...facts,
    ...versionKey(published.missionId, version),
    number: version,
    document: canonicalJson(document),
  };
  return putIf(policiesTable, item, neverPublished);
}

export const movePolicyHead = ({ policiesTable }: Connection, { missionId, before, after }: Of<'policy-head'>): Write =>
  putIf(policiesTable, { ...headKey(missionId), ...after }, before ? stillAt(before) : neverPublished);

export const putFurtherEntry = ({ auditTable }: Connection, { entry }: Of<'entry'>): Write =>
  putIf(auditTable, entryItem(entry), sequenceFree);

function putIf(TableName: string, Item: Record<string, unknown>, condition: Condition): Write {
  const expression = new Expression();
  const ConditionExpression = condition(expression);
  return { Put: { TableName, Item, ConditionExpression, ...expression.parameters() } };
}
