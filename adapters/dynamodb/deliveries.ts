import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Instant, toMilliseconds } from '../../core/instant.ts';
import type { Owed } from '../../core/request.ts';
import { allOf, type Condition, exists, notLeasedSince, owesExactly, sameVersion, stillOwed } from './conditions.ts';
import { refusalOf } from './conflicts.ts';
import type { Connection } from './connection.ts';
import { Expression } from './expression.ts';
import { shards, stateKey, wake } from './items.ts';
import { Patience } from './patience.ts';

/** Milliseconds for which one of these small updates is tried. What fails after all is done by the next sweep. */
const patienceForUpdate = 3_000;

/** Without its list a sweep does nothing at all: a page of it is tried for longer. */
const patienceForPage = 20_000;

/** In no order, so that sweeps at once do not all press on the same request, and find done what another has done. */
export async function* due(connection: Connection, now: Instant): AsyncGenerator<string> {
  for (const shard of shuffled(connection, shards)) {
    let ExclusiveStartKey: Record<string, unknown> | undefined;
    do {
      const query = new QueryCommand({
        TableName: connection.requestsTable,
        IndexName: 'due',
        KeyConditionExpression: 'dueShard = :shard AND wakeAt <= :now',
        ExpressionAttributeValues: { ':shard': String(shard), ':now': now },
        Limit: 100,
        ExclusiveStartKey,
      });
      const page = await patiently(connection, patienceForPage, (options) => connection.client.send(query, options));
      yield* shuffled(connection, page?.Items ?? []).map((item) => String(item.requestId));
      ExclusiveStartKey = page?.LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }
}

const shuffled = <Item>({ world }: Connection, items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: world.draw() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);

export const lease = (connection: Connection, requestId: string, id: string, seen: Instant, until: Instant) =>
  update(connection, requestId, notLeasedSince(id, seen), (expression) => {
    return `SET ${expression.name('owed', id, 'nextAt')} = ${expression.value(until)}`;
  });

export const strike = (connection: Connection, requestId: string, id: string, at: Instant) =>
  update(connection, requestId, stillOwed(id), (expression) => {
    return `SET ${expression.name('delivered', id)} = ${expression.value(at)} REMOVE ${expression.name('owed', id)}`;
  });

export const postpone = (connection: Connection, requestId: string, id: string, owed: Owed) =>
  update(connection, requestId, stillOwed(id), (expression) => {
    return `SET ${expression.name('owed', id)} = ${expression.value(owed)}`;
  });

export const rest = (
  connection: Connection,
  requestId: string,
  version: number,
  owedIds: string[],
  wakeAt: Instant | undefined,
) =>
  update(connection, requestId, allOf(sameVersion(version), owesExactly(owedIds)), (expression) => {
    const attributes = Object.entries(wake(requestId, wakeAt));
    return wakeAt === undefined
      ? `REMOVE ${attributes.map(([name]) => expression.name(name)).join(', ')}`
      : `SET ${attributes.map(([name, value]) => `${expression.name(name)} = ${expression.value(value)}`).join(', ')}`;
  });

export const countLateAttempt = (connection: Connection, requestId: string, principal: string) =>
  update(connection, requestId, exists, (expression) => {
    const attempts = expression.name('lateAttempts', principal);
    return `SET ${attempts} = if_not_exists(${attempts}, ${expression.value(0)}) + ${expression.value(1)}`;
  });

/** True when it was written, false when the condition does not hold (any more). Each of these may be written twice. */
async function update(connection: Connection, requestId: string, condition: Condition, change: Condition) {
  const expression = new Expression();
  const command = {
    TableName: connection.requestsTable,
    Key: stateKey(requestId),
    UpdateExpression: change(expression),
    ConditionExpression: condition(expression),
    ...expression.parameters(),
  };
  const written = await patiently(connection, patienceForUpdate, (options) =>
    connection.client.send(new UpdateCommand(command), options),
  );
  return written !== undefined;
}

/** Tries on while the table is busy or does not answer. Undefined: the condition does not hold. */
async function patiently<Result>(
  { world }: Connection,
  milliseconds: number,
  call: (options: { abortSignal: AbortSignal }) => Promise<Result>,
): Promise<Result | undefined> {
  const patience = new Patience(world, toMilliseconds(world.now()) + milliseconds);
  for (; ; await patience.wait()) {
    try {
      return await call({ abortSignal: patience.signal() });
    } catch (error) {
      if (refusalOf(error).kind === 'conflict') return undefined;
    }
  }
}
