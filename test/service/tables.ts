import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { createClient } from '../../adapters/dynamodb/client.ts';
import type { Connection } from '../../adapters/dynamodb/connection.ts';
import { contentItem, entryItem, type Item, stateItem } from '../../adapters/dynamodb/items.ts';
import { createStore } from '../../adapters/dynamodb/store.ts';
import { world } from '../../adapters/world.ts';
import type { Change } from '../../core/change.ts';
import { fromMilliseconds } from '../../core/instant.ts';
import type { World } from '../../core/ports.ts';
import type { PendingState } from '../../core/request.ts';
import { engineCredentials } from '../../local/aws-endpoint.ts';
import { functionName } from '../../local/template.ts';
import { action, contentOf, creationOf, newId, pendingState } from '../store/requests.ts';
import type { Front } from './harness.ts';

/** The service's tables past every check, as somebody with the keys of the account reaches them. */
export const behind = (front: Front): Connection => connect(front, front.service.dynamodbUrl, engineCredentials);

/** The same with the grants of one function, metered as its calls. */
export function asFunction(front: Front, name: string): Connection {
  const { endpoint, template } = front.service;
  const lambda = template.ofType('AWS::Lambda::Function').find((one) => functionName(one) === name);
  return connect(front, endpoint.url, endpoint.credentialsFor(lambda?.logicalId ?? name));
}

function connect(front: Front, endpoint: string, credentials: typeof engineCredentials): Connection {
  const { outputs, region } = front.service.template;
  return {
    client: createClient({
      endpoint,
      region,
      credentials,
      requestHandler: { connectionTimeout: 30_000, requestTimeout: 30_000 },
    }),
    requestsTable: outputs.RequestsTable ?? '',
    auditTable: outputs.AuditTable ?? '',
    policiesTable: outputs.PoliciesTable ?? '',
    samplesTable: outputs.SamplesTable ?? '',
    escalationsTable: outputs.EscalationsTable ?? '',
    world,
  };
}

export const laterWorld = (offsetSeconds: number): World => ({
  ...world,
  now: () => fromMilliseconds(Date.now() + offsetSeconds * 1000),
});

/** A request of a run of its own, asked at a time long past; stored as the use case would store it. */
export async function seedDue(front: Front, facts: Partial<PendingState> = {}): Promise<string> {
  const change = dueRequest(facts);
  await createStore(behind(front)).commit(change, Date.now() + 30_000);
  return change.after.requestId;
}

/** The same, so many that one transaction for each would take too long. */
export async function seedManyDue(front: Front, count: number, facts: Partial<PendingState> = {}): Promise<string[]> {
  const changes = Array.from({ length: count }, () => dueRequest(facts));
  const { requestsTable, auditTable } = behind(front);
  await putAll(
    front,
    auditTable,
    changes.map(({ entry }) => entryItem(entry)),
  );
  await putAll(
    front,
    requestsTable,
    changes.flatMap(({ after, contents }) => [
      stateItem(after),
      ...contents.map((content) => contentItem(after.requestId, content)),
    ]),
  );
  return changes.map(({ after }) => after.requestId);
}

function dueRequest(facts: Partial<PendingState>): Change {
  const texts = contentOf({ kind: 'request-texts', salt: newId() });
  const state = pendingState({ owed: {}, textsDigest: texts.digest, wakeAt: longAgo, deadline: longAgo, ...facts });
  return creationOf(state, undefined, [action, texts]);
}

const longAgo = '2026-01-01T00:00:00.000Z';
const farAway = '2126-11-30T10:00:00.000Z';

/** Requests that wait and of which nothing will be due for a hundred years. */
export async function seedPending(front: Front, count: number): Promise<void> {
  const items = Array.from({ length: count }, () => {
    const { after } = creationOf(pendingState({ deadline: farAway, wakeAt: farAway, owed: {} }));
    return stateItem(after);
  });
  await putAll(front, behind(front).requestsTable, items);
}

async function putAll(front: Front, table: string, items: readonly Item[]): Promise<void> {
  const { client } = behind(front);
  const batches = Array.from({ length: Math.ceil(items.length / 25) }, (_, at) => items.slice(at * 25, at * 25 + 25));
  await inParallel(batches, async (batch) => {
    const puts = batch.map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
  });
}

/** Eight at once, in order. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = [...items.entries()].values();
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return results;
}
