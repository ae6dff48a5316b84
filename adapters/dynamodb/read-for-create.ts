import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import type { RequestStore } from '../../core/ports.ts';
import type { Connection } from './connection.ts';
import { type Item, parseState, stateKey } from './items.ts';
import { headKey, parseHead } from './policies.ts';

type Keys = NonNullable<ConstructorParameters<typeof BatchGetCommand>[0]['RequestItems']>;

/** Both items by key in one call; what DynamoDB had no room for is asked for again, and none of it is guessed. */
export async function readForCreate(
  { client, requestsTable, policiesTable, world }: Connection,
  requestId: string | undefined,
  missionId: string,
): ReturnType<RequestStore['readForCreate']> {
  const found: Record<string, Item[]> = {};
  let open: Keys = {
    [policiesTable]: { Keys: [headKey(missionId)], ConsistentRead: true },
    ...(requestId !== undefined && { [requestsTable]: { Keys: [stateKey(requestId)], ConsistentRead: true } }),
  };
  for (let tries = 0; Object.keys(open).length > 0; tries++) {
    if (tries > 0) await world.pause(world.draw() * Math.min(1_000, 20 * 2 ** tries));
    if (tries > 8) throw new UnprocessedError();
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(new BatchGetCommand({ RequestItems: open }));
    for (const [table, items] of Object.entries(Responses)) found[table] = [...(found[table] ?? []), ...items];
    open = UnprocessedKeys;
  }
  const [state] = found[requestsTable] ?? [];
  const [head] = found[policiesTable] ?? [];
  return { ...(state && { earlier: parseState(state) }), ...(head && { head: parseHead(head) }) };
}

/** As the SDK names what it throttled for too long. */
class UnprocessedError extends Error {
  override readonly name = 'ThrottlingException';
}
