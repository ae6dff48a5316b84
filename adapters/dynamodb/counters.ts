import { type AttributeValue, BatchGetItemCommand, type KeysAndAttributes } from '@aws-sdk/client-dynamodb';
import type { Bucket, Counter } from '../../core/counter.ts';
import { sumOf } from '../../core/exact-decimal.ts';
import type { Connection } from './connection.ts';
import { counterAttributes as attributes, counterKey } from './tables.ts';

type Item = Record<string, AttributeValue>;

/** As the document client reads everything, a sum would go through a double: here its digits are kept. */
export async function readCounters(
  { client, requestsTable, world }: Connection,
  counters: readonly string[],
): Promise<Map<string, Counter>> {
  const found = new Map<string, Counter>();
  const keys = counters.map((counter) => {
    const { requestId, part } = counterKey(counter);
    return { requestId: { S: requestId }, part: { S: part } };
  });
  let wanted: KeysAndAttributes | undefined = keys.length > 0 ? { Keys: keys, ConsistentRead: true } : undefined;
  for (let tries = 0; wanted; tries++) {
    if (tries > 0) await world.pause(world.draw() * Math.min(1_000, 20 * 2 ** tries));
    if (tries > 8) throw new UnprocessedError();
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [requestsTable]: wanted } }),
    );
    for (const item of Responses?.[requestsTable] ?? []) found.set(item.requestId?.S ?? '', counterIn(item));
    wanted = UnprocessedKeys?.[requestsTable];
  }
  return found;
}

function counterIn(item: Item): Counter {
  const number = (attribute: string) => Number(item[attribute]?.N ?? 0);
  const heldBy = item[attributes.heldBy]?.S;
  return {
    version: number('version'),
    keepSeconds: number(attributes.keepSeconds),
    buckets: bucketsIn(item),
    pending: number(attributes.pending),
    ...(heldBy !== undefined && { heldBy }),
  };
}

const bucketsIn = (item: Item): Bucket[] =>
  Object.keys(item)
    .flatMap((attribute) => attributes.bucketOf(attribute) ?? [])
    .sort((one, other) => one - other)
    .map((end) => ({
      end,
      sum: sumOf(item[attributes.sum(end)]?.N ?? '0'),
      count: Number(item[attributes.count(end)]?.N ?? 0),
    }));

/** As the SDK names what was throttled for too long. */
class UnprocessedError extends Error {
  override readonly name = 'ThrottlingException';
}
