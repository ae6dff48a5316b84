import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Connection } from '../../adapters/dynamodb/connection.ts';
import { entryItem, stateItem } from '../../adapters/dynamodb/items.ts';
import { createStore } from '../../adapters/dynamodb/store.ts';
import type { Store } from './contract.ts';

/** A planted fault: it reads, compares in the program and then writes, as if nobody else were there. */
export function readThenWriteStore(connection: Connection): Store {
  const store = createStore(connection);
  const { client, requestsTable, auditTable } = connection;
  return {
    ...store,
    commit: async ({ before, after, entry }) => {
      const stored = await store.readState(after.requestId);
      const tail = await store.readTail(entry.runId);
      if (stored?.version !== before?.version || (tail?.sequence ?? 0) + 1 !== entry.sequence) return 'conflict';
      await client.send(new PutCommand({ TableName: requestsTable, Item: stateItem(after) }));
      await client.send(new PutCommand({ TableName: auditTable, Item: entryItem(entry) }));
      return 'committed';
    },
  };
}
