import { describe, expect, it } from 'vitest';
import { type TableName, type TableShape, tables } from '../../adapters/dynamodb/tables.ts';
import { ofType, one, type Resource, type SynthesisedTemplate, templateFor } from './synthesised.ts';

const template = templateFor();
const fresh = (): SynthesisedTemplate => structuredClone(template);
const tableIn = (from: SynthesisedTemplate, name: TableName) =>
  one(from, 'AWS::DynamoDB::GlobalTable', `tables${name}`);

/** The shape that a table of the template has, in the words of `tables.ts`. */
function shapeOf({ Properties }: Resource): TableShape {
  const keys = (schema: { AttributeName: string; KeyType: string }[]) => {
    const [partition, sort] = ['HASH', 'RANGE'].map(
      (type) => schema.find((key) => key.KeyType === type)?.AttributeName,
    );
    return { partitionKey: partition ?? '', ...(sort && { sortKey: sort }) };
  };
  const numbers = Properties.AttributeDefinitions.filter(
    ({ AttributeType }: { AttributeType: string }) => AttributeType !== 'S',
  ).map(({ AttributeName }: { AttributeName: string }) => AttributeName);
  const indexes = Object.fromEntries(
    // biome-ignore lint/suspicious/noExplicitAny: a template is whatever CloudFormation allows
    (Properties.GlobalSecondaryIndexes ?? []).map((index: any) => [
      index.IndexName,
      {
        ...keys(index.KeySchema),
        projection:
          index.Projection.ProjectionType === 'KEYS_ONLY'
            ? 'keys'
            : (index.Projection.NonKeyAttributes ?? index.Projection.ProjectionType),
      },
    ]),
  );
  return {
    ...keys(Properties.KeySchema),
    ...(numbers.length > 0 && { numbers }),
    ...(Object.keys(indexes).length > 0 && { indexes }),
    ...(Properties.StreamSpecification && { stream: true }),
  };
}

/** What could lose data, or show it to who has no key. */
function unsafe(from: SynthesisedTemplate): string[] {
  return ofType(from, 'AWS::DynamoDB::GlobalTable').flatMap(([id, { Properties, ...policies }]) => {
    const [replica] = Properties.Replicas;
    const demands = {
      'is retained': policies.DeletionPolicy === 'Retain' && policies.UpdateReplacePolicy === 'Retain',
      'is protected from deletion': replica.DeletionProtectionEnabled === true,
      'can be restored to a point in time':
        replica.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled === true,
      'is on demand': Properties.BillingMode === 'PAY_PER_REQUEST',
      'has the customer’s key':
        Properties.SSESpecification?.SSEType === 'KMS' && replica.SSESpecification?.KMSMasterKeyId !== undefined,
      'has no physical name': Properties.TableName === undefined,
    };
    return Object.entries(demands).flatMap(([demand, holds]) => (holds ? [] : [`${id}: not true that it ${demand}`]));
  });
}

describe('the tables', () => {
  it('are those of tables.ts, with exactly its keys, indexes and projections', () => {
    const shapes = Object.fromEntries(
      (Object.keys(tables) as TableName[]).map((name) => [name, shapeOf(tableIn(template, name))]),
    );
    expect(shapes).toEqual(tables);
    expect(ofType(template, 'AWS::DynamoDB::GlobalTable')).toHaveLength(Object.keys(tables).length);
  });

  it('would not pass with another projection, key type or a missing index', () => {
    const spoiled = fresh();
    const requests = tableIn(spoiled, 'requests');
    requests.Properties.GlobalSecondaryIndexes[0].Projection = { ProjectionType: 'ALL' };
    expect(shapeOf(requests)).not.toEqual(tables.requests);
    const audit = tableIn(spoiled, 'audit');
    audit.Properties.AttributeDefinitions[1].AttributeType = 'S';
    expect(shapeOf(audit)).not.toEqual(tables.audit);
    const edits = tableIn(spoiled, 'edits');
    edits.Properties.GlobalSecondaryIndexes.pop();
    expect(shapeOf(edits)).not.toEqual(tables.edits);
  });

  it('are retained, protected, restorable, on demand, encrypted with the customer’s key, and unnamed', () => {
    expect(unsafe(template)).toEqual([]);
  });

  it.each<[string, (table: Resource) => void]>([
    ['is retained', (table) => delete table.DeletionPolicy],
    ['is protected from deletion', (table) => delete table.Properties.Replicas[0].DeletionProtectionEnabled],
    [
      'can be restored to a point in time',
      (table) => delete table.Properties.Replicas[0].PointInTimeRecoverySpecification,
    ],
    ['has the customer’s key', (table) => delete table.Properties.Replicas[0].SSESpecification],
    ['has no physical name', (table) => Object.assign(table.Properties, { TableName: 'audit' })],
  ])('would not pass unless each %s', (demand, spoil) => {
    const spoiled = fresh();
    spoil(tableIn(spoiled, 'audit'));
    expect(unsafe(spoiled)).toEqual([expect.stringContaining(demand)]);
  });

  it('encrypt with one key that turns every year and outlives the stack', () => {
    const key = one(template, 'AWS::KMS::Key');
    expect(key.Properties.EnableKeyRotation).toBe(true);
    expect(key.DeletionPolicy).toBe('Retain');
  });

  it('show on the audit stream also what was there before, so that tampering leaves a trace', () => {
    expect(tableIn(template, 'audit').Properties.StreamSpecification).toEqual({ StreamViewType: 'NEW_AND_OLD_IMAGES' });
  });
});
