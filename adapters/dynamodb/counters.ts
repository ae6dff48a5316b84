import { type AttributeValue, BatchGetItemCommand, type KeysAndAttributes } from '@aws-sdk/client-dynamodb';
import type { Bucket, Counter } from '../../core/counter.ts';
import { sumOf } from '../../core/exact-decimal.ts';
import type { Precedent } from '../../core/precedent.ts';
import type { Connection } from './connection.ts';
import { precedentKey } from './moves/precedent.ts';
import { parsePrecedent } from './precedents.ts';
import { counterAttributes as attributes, counterKey } from './tables.ts';

type Item = Record<string, AttributeValue>;

/** As the document client reads everything, a sum would go through a double: here its digits are kept. */
export async function readCounters(connection: Connection, counters: readonly string[]): Promise<Map<string, Counter>> {
  if (counters.length === 0) return new Map();
  const found = await batchGet(connection, { [connection.requestsTable]: keysOf(counters) });
  return countersIn(found.get(connection.requestsTable));
}

/** Items of two tables in one call. */
export async function readCountersAndPrecedent(
  connection: Connection,
  counters: readonly string[],
  place: Pick<Precedent, 'missionId' | 'precedentId'>,
): Promise<{ counters: Map<string, Counter>; precedent?: Precedent | undefined }> {
  const { requestsTable, policiesTable } = connection;
  const { missionId, version } = precedentKey(place);
  const found = await batchGet(connection, {
    [requestsTable]: keysOf(counters),
    [policiesTable]: { Keys: [{ missionId: { S: missionId }, version: { S: version } }], ConsistentRead: true },
  });
  const [item] = found.get(policiesTable) ?? [];
  return {
    counters: countersIn(found.get(requestsTable)),
    ...(item && { precedent: parsePrecedent({ missionId, version, precedent: plain(item.precedent) }) }),
  };
}

function keysOf(counters: readonly string[]): KeysAndAttributes {
  const keys = counters.map(counterKey);
  return {
    Keys: keys.map(({ requestId, part }) => ({ requestId: { S: requestId }, part: { S: part } })),
    ConsistentRead: true,
  };
}

async function batchGet(
  { client, world }: Connection,
  asked: Record<string, KeysAndAttributes>,
): Promise<ReadonlyMap<string, Item[]>> {
  const found = new Map<string, Item[]>();
  let open = asked;
  for (let tries = 0; Object.keys(open).length > 0; tries++) {
    if (tries > 0) await world.pause(world.draw() * Math.min(1_000, 20 * 2 ** tries));
    if (tries > 8) throw new UnprocessedError();
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(new BatchGetItemCommand({ RequestItems: open }));
    for (const [table, items] of Object.entries(Responses)) found.set(table, [...(found.get(table) ?? []), ...items]);
    open = UnprocessedKeys;
  }
  return found;
}

const countersIn = (items: readonly Item[] = []): Map<string, Counter> =>
  new Map(items.map((item) => [item.requestId?.S ?? '', counterIn(item)]));

/** Texts, lists and maps: what a precedent is made of. */
function plain(value: AttributeValue | undefined): unknown {
  if (value?.L) return value.L.map(plain);
  if (value?.M) return Object.fromEntries(Object.entries(value.M).map(([name, member]) => [name, plain(member)]));
  return value?.S;
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
