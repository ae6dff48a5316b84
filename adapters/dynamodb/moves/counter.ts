import { NumberValue } from '@aws-sdk/lib-dynamodb';
import type { CounterMove } from '../../../core/counter.ts';
import { allOf, type Condition } from '../conditions.ts';
import type { Connection } from '../connection.ts';
import { Expression } from '../expression.ts';
import type { Write } from '../move-write.ts';
import { counterAttributes as attributes, counterKey } from '../tables.ts';

const asRead =
  (seen: number): Condition =>
  (expression) =>
    seen === 0
      ? `attribute_not_exists(${expression.name('version')})`
      : `${expression.name('version')} = ${expression.value(seen)}`;

const fewerThan =
  (atMost: number): Condition =>
  (expression) => {
    const pending = expression.name(attributes.pending);
    return `(attribute_not_exists(${pending}) OR ${pending} < ${expression.value(atMost)})`;
  };

const heldByNobody: Condition = (expression) => `attribute_not_exists(${expression.name(attributes.heldBy)})`;

/** Amounts go out as decimal digits: DynamoDB adds decimals exactly, so nothing is rounded on the way. */
const decimal = (text: string) => NumberValue.from(text);

export function moveCounter({ requestsTable }: Connection, move: CounterMove): Write {
  const expression = new Expression();
  const update = (UpdateExpression: string, ...conditions: Condition[]): Write => ({
    Update: {
      TableName: requestsTable,
      Key: counterKey(move.counter),
      UpdateExpression,
      ...(conditions.length > 0 && { ConditionExpression: allOf(...conditions)(expression) }),
      ...expression.parameters(),
    },
  });
  const add = (attribute: string, amount: string) =>
    `${expression.name(attribute)} ${expression.value(decimal(amount))}`;

  switch (move.does) {
    case 'add': {
      const { seen, keepSeconds, bucket, amount, count, forget } = move;
      const set = `SET ${expression.name('version')} = ${expression.value(seen + 1)}, ${expression.name(attributes.keepSeconds)} = ${expression.value(keepSeconds)}`;
      const added = `ADD ${add(attributes.sum(bucket), amount)}, ${add(attributes.count(bucket), String(count))}`;
      const gone = forget.flatMap((end) =>
        [attributes.sum(end), attributes.count(end)].map((one) => expression.name(one)),
      );
      const removed = gone.length > 0 ? ` REMOVE ${gone.join(', ')}` : '';
      return update(`${set} ${added}${removed}`, asRead(seen));
    }
    case 'take': {
      const { bucket, amount, count } = move;
      return update(
        `ADD ${add(attributes.sum(bucket), `-${amount}`)}, ${add(attributes.count(bucket), String(-count))}`,
      );
    }
    case 'enter':
      return update(`ADD ${add(attributes.pending, '1')}`, fewerThan(move.atMost));
    case 'leave':
      return update(`ADD ${add(attributes.pending, '-1')}`);
    case 'hold':
      return update(`SET ${expression.name(attributes.heldBy)} = ${expression.value(move.requestId)}`, heldByNobody);
    case 'checkFree': {
      const ConditionExpression = heldByNobody(expression);
      const Key = counterKey(move.counter);
      return { ConditionCheck: { TableName: requestsTable, Key, ConditionExpression, ...expression.parameters() } };
    }
    case 'letGo':
      return { Delete: { TableName: requestsTable, Key: counterKey(move.counter) } };
  }
}
