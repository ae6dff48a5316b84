import { CfnOutput, RemovalPolicy } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  Billing,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { type IndexShape, type TableName, type TableShape, tables } from '../adapters/dynamodb/tables.ts';

/** Every table of `adapters/dynamodb/tables.ts`, with nothing that is not said there. */
export class Tables extends Construct {
  readonly byName: Readonly<Record<TableName, TableV2>>;

  constructor(scope: Construct, id: string, encryptionKey: IKey) {
    super(scope, id);
    const shapes: [string, TableShape][] = Object.entries(tables);
    this.byName = Object.fromEntries(
      shapes.map(([name, shape]) => [name, this.#table(name, shape, encryptionKey)]),
    ) as Record<TableName, TableV2>;
  }

  #table(name: string, shape: TableShape, encryptionKey: IKey): TableV2 {
    const attribute = (key: string): Attribute => ({
      name: key,
      type: shape.numbers?.includes(key) ? AttributeType.NUMBER : AttributeType.STRING,
    });
    const table = new TableV2(this, name, {
      partitionKey: attribute(shape.partitionKey),
      ...(shape.sortKey && { sortKey: attribute(shape.sortKey) }),
      globalSecondaryIndexes: Object.entries(shape.indexes ?? {}).map(([indexName, index]) => ({
        indexName,
        partitionKey: attribute(index.partitionKey),
        sortKey: attribute(index.sortKey),
        ...projection(index),
      })),
      // Old images too: a record that is no INSERT is an attack on the evidence, and shows what was there before.
      ...(shape.stream && { dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES }),
      billing: Billing.onDemand(),
      encryption: TableEncryptionV2.customerManagedKey(encryptionKey),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const output = new CfnOutput(this, `${name}Name`, { value: table.tableName });
    output.overrideLogicalId(`${name[0]?.toUpperCase()}${name.slice(1)}Table`);
    return table;
  }
}

const projection = (index: IndexShape) =>
  index.projection === 'keys'
    ? { projectionType: ProjectionType.KEYS_ONLY }
    : { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...index.projection] };
