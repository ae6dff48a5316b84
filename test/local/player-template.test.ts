// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub is written so
import { basename } from 'node:path';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { engineCredentials } from '../../local/aws-endpoint.ts';
import { startEngine } from '../../local/dynamodb-engine.ts';
import { createPlayedTables } from '../../local/played-tables.ts';
import { functionName, readTemplate } from '../../local/template.ts';
import { readWritten, smallResources, writeAssembly } from './player-assembly.ts';

const bare = (value: unknown) =>
  readWritten({
    Resources: { ...smallResources, Api: { Type: 'AWS::ApiGatewayV2::Api' } },
    Outputs: { Out: { Value: value } },
  }).outputs.Out;

test.each([
  [{ Ref: 'AWS::AccountId' }, '000000000000'],
  [{ Ref: 'AWS::Partition' }, 'aws'],
  [{ Ref: 'AWS::Region' }, 'eu-central-1'],
  [{ Ref: 'AWS::URLSuffix' }, 'amazonaws.com'],
  [{ Ref: 'Orders' }, 'Orders'],
  [{ Ref: 'Topic' }, 'arn:aws:sns:eu-central-1:000000000000:Topic'],
  [{ 'Fn::GetAtt': ['Role', 'Arn'] }, 'arn:aws:iam::000000000000:role/Role'],
  [{ 'Fn::GetAtt': ['Key', 'Arn'] }, 'arn:aws:kms:eu-central-1:000000000000:key/Key'],
  [{ 'Fn::GetAtt': ['Api', 'ApiEndpoint'] }, 'http://localhost:8787'],
  [
    { 'Fn::GetAtt': ['Journal', 'StreamArn'] },
    'arn:aws:dynamodb:eu-central-1:000000000000:table/Journal/stream/2000-01-01T00:00:00.000',
  ],
  [{ 'Fn::Join': ['/', ['a', { Ref: 'Orders' }, 'b']] }, 'a/Orders/b'],
  [{ 'Fn::Sub': '${AWS::Region}-${Orders}-${Shop.Arn}-${!kept}' }, expect.stringMatching(/^eu-.*:Shop-\$\{kept\}$/)],
])('%j is %s', (intrinsic, value) => {
  expect(bare(intrinsic)).toEqual(value);
});

test.each([
  [{ 'Fn::Select': [0, ['a']] }, /output Out: Fn::Select is not played/],
  [{ 'Fn::ImportValue': 'x' }, /output Out: Fn::ImportValue is not played/],
  [{ 'Fn::Sub': ['${a}', { a: 'b' }] }, /Fn::Sub with variables is not played/],
  [{ Ref: 'Nobody' }, /output Out: "Nobody" is neither a resource nor a pseudo parameter/],
  [{ Ref: 'AWS::StackId' }, /"AWS::StackId" is neither/],
  [{ 'Fn::GetAtt': ['Orders', 'TableId'] }, /Fn::GetAtt Orders.TableId is not played.*Arn, StreamArn/],
  [{ 'Fn::GetAtt': ['Orders', 'Arn'], also: 1 }, /Fn::GetAtt has members beside it/],
  [{ 'Fn::Join': ['', ['https://', { Ref: 'Api' }, '.execute-api.eu-central-1.amazonaws.com']] }, /ApiEndpoint/],
])('%j is refused', (intrinsic, message) => {
  expect(() => bare(intrinsic)).toThrow(message);
});

test.each([
  [{ Resources: { Bucket: { Type: 'AWS::S3::Bucket' } } }, /Bucket: the type AWS::S3::Bucket is neither played nor/],
  [{ Resources: { Topic: { Type: 'AWS::SNS::Topic', Condition: 'Sometimes' } } }, /Condition/],
  [{ Resources: { Topic: { Type: 'AWS::SNS::Topic', Properties: { TopicName: 'mine' } } } }, /Topic.TopicName/],
  [{ Conditions: { Sometimes: true } }, /Conditions/],
  [{ Parameters: { Stage: {} } }, /Stage/],
])('%j is refused', (template, message) => {
  expect(() => readWritten(template)).toThrow(message);
});

test('a stack whose region is open, or whose account is stated, is refused', () => {
  expect(() => readWritten({}, 'aws://unknown-account/unknown-region')).toThrow(/states a region and no account/);
  expect(() => readWritten({}, 'aws://123456789012/eu-central-1')).toThrow(/states a region and no account/);
});

test('resources have their path, their properties resolved, and functions their bundle', () => {
  const template = readWritten({ Resources: smallResources });
  const shop = template.get('Shop');
  expect(shop.path).toBe('shop/function');
  expect(functionName(shop)).toBe('shop');
  expect(shop.properties.Environment).toEqual({ Variables: { ORDERS_TABLE: 'Orders' } });
  expect(basename(template.assetFolder(shop))).toBe('asset.bundle');
  expect(() => template.assetFolder(template.get('Topic'))).toThrow(/Topic.Code/);
  expect(template.ofType('AWS::SNS::Topic').map(({ logicalId }) => logicalId)).toEqual(['Topic']);
});

test('what is inert is listed with its reason, and cannot be played by mistake', () => {
  const template = readWritten({ Resources: smallResources });
  expect(template.inert).toEqual([{ logicalId: 'Key', type: 'AWS::KMS::Key', reason: expect.any(String) }]);
  expect(() => template.get('Key')).toThrow(/Key is not among what is played of Small/);
});

test('the address of a user pool needs an issuer', () => {
  const folder = writeAssembly({
    Resources: { People: { Type: 'AWS::Cognito::UserPool' } },
    Outputs: { Issuer: { Value: { 'Fn::GetAtt': ['People', 'ProviderURL'] } } },
  });
  const issuer = 'http://localhost:9000';
  expect(readTemplate(folder, { apiEndpoint: 'http://a', issuer }).outputs.Issuer).toBe(issuer);
  expect(() => readTemplate(folder, { apiEndpoint: 'http://a' })).toThrow(/People: .*no issuer was given/);
});

test('tables are made with their keys, indexes and streams, and a second time left alone, or refused where they differ', async () => {
  const engine = await startEngine();
  const client = new DynamoDBClient({
    endpoint: engine.endpoint,
    region: 'eu-central-1',
    credentials: engineCredentials,
  });
  try {
    const template = readWritten({ Resources: smallResources });
    await createPlayedTables(template, client);
    await createPlayedTables(template, client);
    const { Table: orders } = await client.send(new DescribeTableCommand({ TableName: 'Orders' }));
    const { Properties } = smallResources.Orders;
    expect(orders?.KeySchema).toEqual(Properties.KeySchema);
    expect(orders?.GlobalSecondaryIndexes?.[0]).toMatchObject(Properties.GlobalSecondaryIndexes[0] ?? {});
    const { Table: journal } = await client.send(new DescribeTableCommand({ TableName: 'Journal' }));
    expect(journal?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
    expect(orders?.StreamSpecification?.StreamEnabled ?? false).toBe(false);
    const { GlobalSecondaryIndexes: _, ...withoutIndex } = Properties;
    const AttributeDefinitions = [{ AttributeName: 'orderId', AttributeType: 'S' }];
    const Orders = { ...smallResources.Orders, Properties: { ...withoutIndex, AttributeDefinitions } };
    const changed = readWritten({ Resources: { ...smallResources, Orders } });
    await expect(createPlayedTables(changed, client)).rejects.toThrow(
      'Orders was kept as orderId, byCustomer(customer/at: INCLUDE total); the template has orderId',
    );
  } finally {
    client.destroy();
    await engine.stop();
  }
});

test('a table with a property that is not played is refused before any is made', async () => {
  const Orders = {
    ...smallResources.Orders,
    Properties: { ...smallResources.Orders.Properties, LocalSecondaryIndexes: [] },
  };
  const template = readWritten({ Resources: { ...smallResources, Orders } });
  const nowhere = new DynamoDBClient({ endpoint: 'http://127.0.0.1:1', region: 'eu-central-1' });
  await expect(createPlayedTables(template, nowhere)).rejects.toThrow(/Orders has .*\n.*LocalSecondaryIndexes/);
});
