import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  type TableDescription,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import type { PlayedResource, PlayedTemplate } from './template.ts';

const keySchema = z.array(z.strictObject({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

/** Says nothing that an engine on one machine could show. */
const notPlayed = z.unknown().optional();

const tableSchema = z.strictObject({
  AttributeDefinitions: z.array(z.strictObject({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z
    .array(
      z.strictObject({
        IndexName: z.string(),
        KeySchema: keySchema,
        Projection: z.strictObject({
          ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
          NonKeyAttributes: z.array(z.string()).optional(),
        }),
      }),
    )
    .optional(),
  StreamSpecification: z
    .strictObject({ StreamViewType: z.enum(['KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES']) })
    .optional(),
  BillingMode: z.literal('PAY_PER_REQUEST'),
  Replicas: z
    .array(
      z.strictObject({
        Region: z.string(),
        DeletionProtectionEnabled: notPlayed,
        GlobalSecondaryIndexes: notPlayed,
        PointInTimeRecoverySpecification: notPlayed,
        SSESpecification: notPlayed,
        TableClass: notPlayed,
        Tags: notPlayed,
      }),
    )
    .length(1)
    .optional(),
  DeletionProtectionEnabled: notPlayed,
  PointInTimeRecoverySpecification: notPlayed,
  SSESpecification: notPlayed,
  Tags: notPlayed,
});

/**
 * Makes every table of the template, with its indexes and its stream; a table that is there already is left as it is.
 * Throws where it has other keys or indexes than the template; and, before it makes any, for a property that is not played (on-demand billing and one replica are).
 */
export async function createPlayedTables(template: PlayedTemplate, client: DynamoDBClient): Promise<void> {
  const tables = [...template.ofType('AWS::DynamoDB::GlobalTable'), ...template.ofType('AWS::DynamoDB::Table')];
  await Promise.all(tables.map(tableInput).map((input) => createTable(client, input)));
}

async function createTable(client: DynamoDBClient, input: CreateTableCommandInput): Promise<void> {
  try {
    await client.send(new CreateTableCommand(input));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    const { Table } = await client.send(new DescribeTableCommand({ TableName: input.TableName }));
    const [kept, wanted] = [shapeOf(Table ?? {}), shapeOf(input)];
    if (kept !== wanted) throw new Error(`${input.TableName} was kept as ${kept}; the template has ${wanted}`);
  }
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: input.TableName });
}

/** Keys and indexes, the same text whether asked for or described. */
function shapeOf(
  table: Pick<TableDescription | CreateTableCommandInput, 'KeySchema' | 'GlobalSecondaryIndexes'>,
): string {
  const keys = (schema: KeySchemaElement[] = []) => schema.map(({ AttributeName }) => AttributeName).join('/');
  const indexes = (table.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema, Projection }) => {
    const { ProjectionType, NonKeyAttributes = [] } = Projection ?? {};
    return `${IndexName}(${keys(KeySchema)}: ${[ProjectionType, ...[...NonKeyAttributes].sort()].join(' ')})`;
  });
  return [keys(table.KeySchema), ...indexes.sort()].join(', ');
}

function tableInput({ logicalId, properties }: PlayedResource): CreateTableCommandInput {
  const checked = tableSchema.safeParse(properties);
  if (!checked.success) {
    throw new Error(`${logicalId} has something that is not played:\n${z.prettifyError(checked.error)}`);
  }
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, StreamSpecification } = checked.data;
  return {
    TableName: logicalId,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions,
    KeySchema,
    ...(GlobalSecondaryIndexes && { GlobalSecondaryIndexes }),
    ...(StreamSpecification && { StreamSpecification: { StreamEnabled: true, ...StreamSpecification } }),
  };
}
