import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { createClient } from '../../adapters/dynamodb/client.ts';
import type { Connection } from '../../adapters/dynamodb/connection.ts';
import { createTables } from './create-tables.ts';
import { newId } from './requests.ts';

const local = { region: 'eu-central-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };

/** New tables on the engine, with a client of their own. */
export async function emptyTables(endpoint: string, overrides: DynamoDBClientConfig = {}): Promise<Connection> {
  const client = createClient({ ...local, endpoint, ...overrides });
  const suffix = newId();
  const names = {
    requests: `requests-${suffix}`,
    audit: `audit-${suffix}`,
    policies: `policies-${suffix}`,
    samples: `samples-${suffix}`,
    escalations: `escalations-${suffix}`,
  };
  await createTables(client, names);
  return {
    client,
    requestsTable: names.requests,
    auditTable: names.audit,
    policiesTable: names.policies,
    samplesTable: names.samples,
    escalationsTable: names.escalations,
    world: testWorld,
  };
}

/** Another client of the same tables. */
export const sameTables = (endpoint: string, connection: Connection): Connection => ({
  ...connection,
  client: createClient({ ...local, endpoint }),
});

const testWorld: Connection['world'] = {
  now: () => new Date().toISOString(),
  randomId: newId,
  draw: Math.random,
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};
