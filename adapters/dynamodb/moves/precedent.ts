import type { Move } from '../../../core/move.ts';
import { keyOfPrecedent, type Precedent } from '../../../core/precedent.ts';
import type { Condition } from '../conditions.ts';
import type { Connection } from '../connection.ts';
import { Expression } from '../expression.ts';
import type { Write } from '../move-write.ts';
import { precedentPartition } from '../tables.ts';

type Of<Kind extends Move['kind']> = Extract<Move, { kind: Kind }>;

/** `missionId` is the partition's name here, so the record stands in a map of its own. */
const precedentItem = (precedent: Precedent) => ({ ...precedentKey(precedent), precedent });

export function precedentKey({ missionId, precedentId }: Pick<Precedent, 'missionId' | 'precedentId'>) {
  const { action, values } = keyOfPrecedent(precedentId);
  return { missionId: precedentPartition(missionId, action), version: values };
}

const neverSet: Condition = (expression) => `attribute_not_exists(${expression.name('missionId')})`;

/** Set once per claim: `setAt` and the request say which setting it is; `revoked`, whether it still holds. */
const stillAs =
  ({ requestId, setAt, revoked }: Precedent): Condition =>
  (expression) => {
    const revokedAt = expression.name('precedent', 'revoked', 'at');
    return [
      `${expression.name('precedent', 'requestId')} = ${expression.value(requestId)}`,
      `${expression.name('precedent', 'setAt')} = ${expression.value(setAt)}`,
      revoked ? `${revokedAt} = ${expression.value(revoked.at)}` : `attribute_not_exists(${revokedAt})`,
    ].join(' AND ');
  };

export function setPrecedent({ policiesTable }: Connection, { precedent, before }: Of<'precedent'>): Write {
  const expression = new Expression();
  const ConditionExpression = (before ? stillAs(before) : neverSet)(expression);
  return {
    Put: {
      TableName: policiesTable,
      Item: precedentItem(precedent),
      ConditionExpression,
      ...expression.parameters(),
    },
  };
}

export function precedentReliedOn({ policiesTable }: Connection, { precedent }: Of<'precedent-relied-on'>): Write {
  const expression = new Expression();
  const ConditionExpression = stillAs(precedent)(expression);
  return {
    ConditionCheck: {
      TableName: policiesTable,
      Key: precedentKey(precedent),
      ConditionExpression,
      ...expression.parameters(),
    },
  };
}

export function revokePrecedent({ policiesTable }: Connection, { before, revoked }: Of<'precedent-revocation'>): Write {
  const expression = new Expression();
  const ConditionExpression = stillAs(before)(expression);
  return {
    Put: {
      TableName: policiesTable,
      Item: precedentItem({ ...before, revoked }),
      ConditionExpression,
      ...expression.parameters(),
    },
  };
}
