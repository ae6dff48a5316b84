import { type AttributeDefinition, CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type IndexShape, type TableName, type TableShape, tables } from '../../adapters/dynamodb/tables.ts';

/** Makes the named tables from their shapes, for tests of the store alone: everything else takes them from the template. */
export async function createTables(client: DynamoDBClient, names: Partial<Record<TableName, string>>): Promise<void> {
  for (const [table, name] of Object.entries(names) as [TableName, string][]) {
    await client.send(new CreateTableCommand(creation(name, tables[table])));
  }
}

function creation(TableName: string, shape: TableShape) {
  const indexes = Object.entries(shape.indexes ?? {}).map(([IndexName, index]) => ({
    IndexName,
    KeySchema: keySchema(index),
    Projection: projection(index),
  }));
  return {
    TableName,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: attributes(shape),
    KeySchema: keySchema(shape),
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
    ...(shape.stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' as const } }),
  };
}

function keySchema({ partitionKey, sortKey }: { partitionKey: string; sortKey?: string }) {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' as const },
    ...(sortKey === undefined ? [] : [{ AttributeName: sortKey, KeyType: 'RANGE' as const }]),
  ];
}

function projection({ projection }: IndexShape) {
  return projection === 'keys'
    ? { ProjectionType: 'KEYS_ONLY' as const }
    : { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...projection] };
}

function attributes(shape: TableShape): AttributeDefinition[] {
  const keys = [shape, ...Object.values(shape.indexes ?? {})].flatMap(({ partitionKey, sortKey }) => [
    partitionKey,
    ...(sortKey === undefined ? [] : [sortKey]),
  ]);
  return [...new Set(keys)].map((AttributeName) => ({
    AttributeName,
    AttributeType: shape.numbers?.includes(AttributeName) ? 'N' : 'S',
  }));
}
