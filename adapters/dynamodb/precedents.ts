import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { CorruptRecordError } from '../../core/corrupt-record.ts';
import type { Page } from '../../core/ports.ts';
import { actionKeyOf, type Precedent } from '../../core/precedent.ts';
import type { Connection } from './connection.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { Item } from './items.ts';
import { precedentKey } from './moves/precedent.ts';
import { precedentPartition } from './tables.ts';

const instant = z.iso.datetime({ precision: 3 });

const record = z.object({
  precedentId: z.string(),
  missionId: z.string(),
  actionName: z.string(),
  noveltyKey: z.array(z.string()),
  requestId: z.string(),
  runId: z.string(),
  approvedBy: z.array(z.string()),
  approvedAt: instant,
  setAt: instant,
  revoked: z.object({ by: z.string(), at: instant }).optional(),
}) satisfies z.ZodType<Precedent>;

export async function readPrecedent(
  { client, policiesTable }: Connection,
  key: Pick<Precedent, 'missionId' | 'precedentId'>,
): Promise<Precedent | undefined> {
  const { Item } = await client.send(
    new GetCommand({ TableName: policiesTable, Key: precedentKey(key), ConsistentRead: true }),
  );
  return Item && parsePrecedent(Item);
}

export async function precedentsOf(
  { client, policiesTable }: Connection,
  { missionId, actionName }: Pick<Precedent, 'missionId' | 'actionName'>,
  limit: number,
  cursor?: string,
): Promise<Page<Precedent>> {
  const partition = precedentPartition(missionId, actionKeyOf(actionName));
  const position = z.strictObject({ missionId: z.literal(partition), version: z.string().regex(/^[\w-]{43}$/) });
  const found = await client.send(
    new QueryCommand({
      TableName: policiesTable,
      KeyConditionExpression: 'missionId = :partition',
      ExpressionAttributeValues: { ':partition': partition },
      ConsistentRead: true,
      Limit: limit,
      ExclusiveStartKey: cursor === undefined ? undefined : decodeCursor(position, cursor),
    }),
  );
  return {
    items: (found.Items ?? []).flatMap(readable),
    ...(found.LastEvaluatedKey && { cursor: encodeCursor(found.LastEvaluatedKey) }),
  };
}

export function parsePrecedent(item: Item): Precedent {
  const parsed = record.safeParse(item.precedent);
  if (parsed.success) return parsed.data;
  throw new CorruptRecordError(`${item.missionId}/${item.version}`, 'is no precedent');
}

/** One record that cannot be read is left out and named in the log: it never takes the list with it. */
function readable(item: Item): Precedent[] {
  try {
    return [parsePrecedent(item)];
  } catch (error) {
    if (!(error instanceof CorruptRecordError)) throw error;
    console.error(JSON.stringify({ event: 'corrupt_record', message: error.message }));
    return [];
  }
}
