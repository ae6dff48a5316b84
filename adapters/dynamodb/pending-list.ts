import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Page, RequestSummary } from '../../core/ports.ts';
import type { Connection } from './connection.ts';
import { decodeCursor, encodeCursor, instantInKey, requestIdInKey } from './cursor.ts';
import type { Item } from './items.ts';
import { readable } from './lists.ts';

/** Where the next page begins: at this deadline, without what was taken of it already. */
const position = z.strictObject({ deadline: instantInKey, taken: z.array(requestIdInKey).min(1) });

/** Stands before every instant. */
const start = { deadline: '0', taken: [] as string[] };

/** Each role's list from one deadline on, joined by deadline; a request that stands in two of them is taken once. */
export async function pendingForRoles(
  connection: Connection,
  roles: readonly string[],
  limit: number,
  cursor?: string,
): Promise<Page<RequestSummary>> {
  const at = cursor === undefined ? start : decodeCursor(position, cursor);
  const lists = await Promise.all(
    roles.map((role) => pendingFrom(connection, role, at.deadline, limit + at.taken.length)),
  );
  const found = new Map(lists.flatMap(({ items }) => items).map((item) => [String(item.requestId), item]));
  const fresh = [...found.values()]
    .filter(({ requestId }) => !at.taken.includes(String(requestId)))
    .sort((one, other) => (String(one.deadline) < String(other.deadline) ? -1 : 1));
  const taken = fresh.slice(0, limit);
  const last = taken.at(-1);
  return {
    items: taken.flatMap((item) => readable(item, ({ summary }) => summary)),
    ...(last && (fresh.length > limit || lists.some(({ more }) => more)) && { cursor: cursorAfter(at, taken, last) }),
  };
}

function cursorAfter(at: typeof start, taken: readonly Item[], { deadline }: Item): string {
  const now = taken.filter((item) => item.deadline === deadline).map(({ requestId }) => String(requestId));
  return encodeCursor({ deadline, taken: at.deadline === deadline ? [...at.taken, ...now] : now });
}

async function pendingFrom({ client, requestsTable }: Connection, role: string, from: string, limit: number) {
  const { Items, LastEvaluatedKey } = await client.send(
    new QueryCommand({
      TableName: requestsTable,
      IndexName: 'pendingByRole',
      KeyConditionExpression: 'awaitsRole = :role AND deadline >= :from',
      ExpressionAttributeValues: { ':role': role, ':from': from },
      Limit: limit,
    }),
  );
  const items: Item[] = Items ?? [];
  return { items, more: LastEvaluatedKey !== undefined };
}
