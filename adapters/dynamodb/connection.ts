import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { World } from '../../core/ports.ts';

/** What each access pattern needs. */
export interface Connection {
  client: DynamoDBDocumentClient;
  requestsTable: string;
  auditTable: string;
  policiesTable: string;
  samplesTable: string;
  escalationsTable: string;
  world: Pick<World, 'now' | 'randomId' | 'draw' | 'pause'>;
}
