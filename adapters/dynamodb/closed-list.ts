import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { addSeconds, type Instant } from '../../core/instant.ts';
import type { Page, RequestSummary } from '../../core/ports.ts';
import type { Connection } from './connection.ts';
import { decodeCursor, encodeCursor, instantInKey, requestIdInKey } from './cursor.ts';
import { closedDay, dayOf, type Item, shards } from './items.ts';
import { readable } from './lists.ts';
import { parts } from './tables.ts';

/** Nothing was closed before this day: the list ends here. */
const firstDay = '2026-01-01';
/** Days that one page looks at before it hands on a cursor, be the page short or empty. */
const daysPerPage = 31;

const lastTaken = z.nullable(z.strictObject({ requestId: requestIdInKey, closedAt: instantInKey }));
/** Which day comes next, and in each of its shards the last item that was handed out. */
const position = z
  .strictObject({ before: instantInKey, day: z.iso.date(), taken: z.array(lastTaken).length(shards.length) })
  .refine(({ before, day, taken }) => day <= dayOf(before) && taken.every((key) => within(key, day, before)));
type Position = z.infer<typeof position>;

const within = (key: z.infer<typeof lastTaken>, day: string, before: Instant): boolean =>
  key === null || (dayOf(key.closedAt) === day && key.closedAt < before);

const startOf = (day: string, before: Instant): Position => ({ before, day, taken: shards.map(() => null) });

const dayBefore = (day: string): string => dayOf(addSeconds(`${day}T00:00:00.000Z`, -86_400));

/** Newest first, over the shards of a day and day after day. With a cursor its own `before` counts. */
export async function closed(
  connection: Connection,
  before: Instant,
  limit: number,
  cursor?: string,
): Promise<Page<RequestSummary>> {
  let at = cursor === undefined ? startOf(dayOf(before), before) : decodeCursor(position, cursor);
  const items: RequestSummary[] = [];
  for (let days = 0; at.day >= firstDay; ) {
    if (items.length >= limit || days === daysPerPage) return { items, cursor: encodeCursor(at) };
    const found = await closedOnDay(connection, at, limit - items.length);
    items.push(...found.items);
    if (found.more) {
      at = found.next;
    } else {
      at = startOf(dayBefore(at.day), at.before);
      days += 1;
    }
  }
  return { items };
}

async function closedOnDay(connection: Connection, at: Position, limit: number) {
  const pages = await Promise.all(shards.map((shard) => closedInShard(connection, at, shard, limit)));
  const candidates = pages.flatMap(({ found }, shard) => found.map((item) => ({ item, shard })));
  candidates.sort((one, other) => (String(one.item.closedAt) < String(other.item.closedAt) ? 1 : -1));
  const taken = candidates.slice(0, limit);
  const next = { ...at, taken: [...at.taken] };
  for (const { item, shard } of taken) {
    next.taken[shard] = { requestId: String(item.requestId), closedAt: String(item.closedAt) };
  }
  return {
    items: taken.flatMap(({ item }) => readable(item, (whole) => whole)),
    next,
    more: candidates.length > taken.length || pages.some(({ more }) => more),
  };
}

async function closedInShard({ client, requestsTable }: Connection, at: Position, shard: number, limit: number) {
  const partition = closedDay(at.day, shard);
  const last = at.taken[shard];
  const { Items, LastEvaluatedKey } = await client.send(
    new QueryCommand({
      TableName: requestsTable,
      IndexName: 'closed',
      KeyConditionExpression: 'closedDay = :day AND closedAt < :before',
      ExpressionAttributeValues: { ':day': partition, ':before': at.before },
      ScanIndexForward: false,
      Limit: limit,
      ...(last && { ExclusiveStartKey: { ...last, closedDay: partition, part: parts.state } }),
    }),
  );
  const found: Item[] = Items ?? [];
  return { found, more: LastEvaluatedKey !== undefined };
}
