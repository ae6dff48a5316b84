import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { CorruptRecordError } from '../../core/corrupt-record.ts';
import type { Page, RequestSummary } from '../../core/ports.ts';
import { log } from '../log.ts';
import type { Connection } from './connection.ts';
import { decodeCursor, encodeCursor, instantInKey, requestIdInKey } from './cursor.ts';
import { type Item, parseSummary } from './items.ts';
import { parts } from './tables.ts';

export async function pendingForRole(
  connection: Connection,
  role: string,
  limit: number,
  cursor?: string,
): Promise<Page<RequestSummary>> {
  const position = z.strictObject({
    awaitsRole: z.literal(role),
    deadline: instantInKey,
    requestId: requestIdInKey,
    part: z.literal(parts.awaits(role)),
  });
  return page(connection, cursor === undefined ? undefined : decodeCursor(position, cursor), (item) => item.summary, {
    IndexName: 'pendingByRole',
    KeyConditionExpression: 'awaitsRole = :role',
    ExpressionAttributeValues: { ':role': role },
    Limit: limit,
  });
}

export async function ofRun(
  connection: Connection,
  runId: string,
  limit: number,
  cursor?: string,
): Promise<Page<RequestSummary>> {
  const position = z.strictObject({
    runId: z.literal(runId),
    requestedAt: instantInKey,
    requestId: requestIdInKey,
    part: z.literal(parts.state),
  });
  return page(connection, cursor === undefined ? undefined : decodeCursor(position, cursor), (item) => item, {
    IndexName: 'byRun',
    KeyConditionExpression: 'runId = :runId',
    ExpressionAttributeValues: { ':runId': runId },
    Limit: limit,
  });
}

async function page(
  { client, requestsTable }: Connection,
  ExclusiveStartKey: Item | undefined,
  summary: (item: Item) => unknown,
  query: Omit<QueryCommandInput, 'TableName'>,
): Promise<Page<RequestSummary>> {
  const found = await client.send(new QueryCommand({ TableName: requestsTable, ExclusiveStartKey, ...query }));
  return {
    items: (found.Items ?? []).flatMap((item) => readable(item, summary)),
    ...(found.LastEvaluatedKey && { cursor: encodeCursor(found.LastEvaluatedKey) }),
  };
}

/** One record that cannot be read is left out and named in the log: it never takes the list with it. */
export function readable(item: Item, summary: (item: Item) => unknown): RequestSummary[] {
  try {
    return [parseSummary({ requestId: item.requestId, part: item.part, ...Object(summary(item)) })];
  } catch (error) {
    if (!(error instanceof CorruptRecordError)) throw error;
    log('error', 'a corrupt record is left out of a list', { record: error.message });
    return [];
  }
}
