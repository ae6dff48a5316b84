import { GetCommand, paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { AuditEntry } from '../../core/audit-entry.ts';
import { CorruptRecordError } from '../../core/corrupt-record.ts';
import type { StoredEntry, StoredRequest } from '../../core/ports.ts';
import type { RequestState } from '../../core/request.ts';
import type { Connection } from './connection.ts';
import { type Item, parseEntry, parseState, stateKey, storedEntry } from './items.ts';
import { parts } from './tables.ts';

export async function readRequest(
  { client, requestsTable }: Connection,
  requestId: string,
): Promise<StoredRequest | undefined> {
  const partition = paginateQuery(
    { client },
    {
      TableName: requestsTable,
      ConsistentRead: true,
      KeyConditionExpression: 'requestId = :requestId',
      ExpressionAttributeValues: { ':requestId': requestId },
    },
  );
  const items: Item[] = [];
  for await (const page of partition) items.push(...(page.Items ?? []));
  const state = items.find((item) => item.part === parts.state);
  if (!state) return undefined;
  const contents = items.filter((item) => String(item.part).startsWith(parts.content('')));
  return { state: parseState(state), contents: new Map(contents.map(contentOf)) };
}

function contentOf(item: Item): [string, string] {
  if (typeof item.canonical !== 'string') {
    throw new CorruptRecordError(`${item.requestId}/${item.part}`, 'its text is missing');
  }
  return [String(item.part).slice(parts.content('').length), item.canonical];
}

export async function readState(
  { client, requestsTable }: Connection,
  requestId: string,
): Promise<RequestState | undefined> {
  const { Item } = await client.send(
    new GetCommand({ TableName: requestsTable, Key: stateKey(requestId), ConsistentRead: true }),
  );
  return Item && parseState(Item);
}

export async function readTail({ client, auditTable }: Connection, runId: string): Promise<AuditEntry | undefined> {
  const { Items } = await client.send(
    new QueryCommand({
      TableName: auditTable,
      ConsistentRead: true,
      KeyConditionExpression: 'runId = :runId',
      ExpressionAttributeValues: { ':runId': runId },
      ScanIndexForward: false,
      Limit: 1,
    }),
  );
  const [tail] = Items ?? [];
  return tail && parseEntry(tail);
}

/** The hash of the entry with this number, to find out who wrote it. */
export async function readHash(
  { client, auditTable }: Connection,
  { runId, sequence }: Pick<AuditEntry, 'runId' | 'sequence'>,
  abortSignal: AbortSignal,
): Promise<string | undefined> {
  const { Items } = await client.send(
    new QueryCommand({
      TableName: auditTable,
      ConsistentRead: true,
      KeyConditionExpression: 'runId = :runId AND #sequence = :sequence',
      ExpressionAttributeNames: { '#sequence': 'sequence' },
      ExpressionAttributeValues: { ':runId': runId, ':sequence': sequence },
    }),
    { abortSignal },
  );
  const [entry] = Items ?? [];
  return entry && storedEntry(entry).hash;
}

export async function entries(
  { client, auditTable }: Connection,
  runId: string,
  after: number | undefined,
  limit: number,
): Promise<StoredEntry[]> {
  const chain = paginateQuery(
    { client },
    {
      TableName: auditTable,
      ConsistentRead: true,
      ...(after === undefined
        ? { KeyConditionExpression: 'runId = :runId', ExpressionAttributeValues: { ':runId': runId } }
        : {
            KeyConditionExpression: 'runId = :runId AND #sequence > :after',
            ExpressionAttributeNames: { '#sequence': 'sequence' },
            ExpressionAttributeValues: { ':runId': runId, ':after': after },
          }),
      Limit: limit,
    },
  );
  const found: StoredEntry[] = [];
  for await (const page of chain) {
    found.push(...(page.Items ?? []).map(storedEntry));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}
