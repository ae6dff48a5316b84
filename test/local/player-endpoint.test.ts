import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startAwsEndpoint } from '../../local/aws-endpoint.ts';
import { readRecordings } from '../../local/recorded-calls.ts';
import { journalArn, ordersArn, readWritten, smallResources, topicArn } from './player-assembly.ts';
import {
  entry,
  order,
  publish,
  read,
  region,
  type SmallStack,
  startSmallStack,
  template,
  write,
} from './player-small-stack.ts';

const recordings = mkdtempSync(join(tmpdir(), 'recordings-'));
let stack: SmallStack;
beforeAll(async () => {
  stack = await startSmallStack(recordings);
});
beforeEach(() => {
  stack.endpoint.faults.clear();
  stack.endpoint.meter.zero();
});
afterAll(() => stack?.stop());

describe('passing on', () => {
  test('what the role allows reaches the engine, and the answer is the one that was asked for', async () => {
    await stack.shop.send(write('passed'));
    const { Item, ConsumedCapacity } = await stack.shop.send(read('passed'));
    expect(Item).toEqual(order('passed').Put.Item);
    expect(ConsumedCapacity).toBeUndefined();
    const measured = await stack.shop.send(
      new GetItemCommand({ ...read('passed').input, ReturnConsumedCapacity: 'TOTAL' }),
    );
    expect(measured.ConsumedCapacity?.CapacityUnits).toBe(0.5);
  });

  test('the engine refusing a condition is told with its reasons', async () => {
    await stack.shop.send(write('twice'));
    await expect(stack.shop.send(write('twice'))).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
    });
  });

  test('a message reaches the topic', async () => {
    await stack.shopTopic.send(publish());
    expect(stack.topics.inspectQueue('heard')?.messages.ready.map(({ body }) => body)).toContainEqual(
      expect.stringContaining('hello'),
    );
  });
});

describe('refusing', () => {
  test('an entry outside of a transaction is refused as AWS refuses it, and nothing is written', async () => {
    const put = new PutItemCommand({ TableName: 'Journal', Item: entry('alone').Put.Item });
    await expect(stack.shop.send(put)).rejects.toMatchObject({
      name: 'AccessDeniedException',
      $metadata: { httpStatusCode: 400 },
      message: expect.stringMatching(/^shop \(Shop\): nothing in the role allows dynamodb:PutItem on .*Journal$/),
    });
    const key = { TableName: 'Journal', Key: entry('alone').Put.Item };
    expect((await stack.direct.send(new GetItemCommand(key))).Item).toBeUndefined();
    expect(stack.shopMeter().PutItem).toMatchObject({ refused: 1, calls: 0 });
  });

  test('one item that is not allowed refuses the whole transaction', async () => {
    const remove = { Delete: { TableName: 'Journal', Key: entry('gone').Put.Item } };
    const both = new TransactWriteItemsCommand({ TransactItems: [order('halved'), remove] });
    await expect(stack.shop.send(both)).rejects.toThrow(/DeleteItem on .*Journal \(dynamodb:EnclosingOperation/);
    expect(await stack.isStored('halved')).toBe(false);
  });

  test('another topic', async () => {
    await expect(stack.shopTopic.send(publish(`${topicArn}2`))).rejects.toMatchObject({
      name: 'AuthorizationErrorException',
      $metadata: { httpStatusCode: 403 },
    });
  });

  test('a caller that is no function, an operation and a service that are not played', async () => {
    const stranger = new DynamoDBClient({
      endpoint: stack.endpoint.url,
      region,
      maxAttempts: 1,
      credentials: { accessKeyId: 'LOCALNobody', secretAccessKey: 'x' },
    });
    await expect(stranger.send(read('passed'))).rejects.toThrow('"LOCALNobody" is no function of the stack');
    await expect(stack.shop.send(new ListTablesCommand({}))).rejects.toThrow(/dynamodb:ListTables is not played/);
    const authorization = 'AWS4-HMAC-SHA256 Credential=LOCALShop/20260101/eu-central-1/s3/aws4_request, Signature=x';
    const answer = await fetch(stack.endpoint.url, { method: 'POST', headers: { authorization } });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('s3 is not played')]);
    expect(() => stack.endpoint.credentialsFor('Nobody')).toThrow(/Nobody is not among/);
  });
});

describe('the meter', () => {
  test('counts calls, capacity, items and bytes by function and operation', async () => {
    await stack.shop.send(write('counted'));
    await stack.shop.send(read('counted'));
    await stack.shop.send(read('nothing'));
    await stack.shop.send(
      new QueryCommand({
        TableName: 'Orders',
        IndexName: 'byCustomer',
        KeyConditionExpression: 'customer = :c AND #at = :at',
        FilterExpression: 'attribute_exists(#total)',
        ExpressionAttributeNames: { '#at': 'at', '#total': 'total' },
        ExpressionAttributeValues: { ':c': { S: 'c' }, ':at': { S: 'counted' } },
      }),
    );
    const { TransactWriteItems, GetItem, Query } = stack.shopMeter();
    expect(TransactWriteItems).toMatchObject({ calls: 1, failed: 0, itemsWritten: 2 });
    expect(TransactWriteItems?.capacityUnits).toBeGreaterThanOrEqual(4);
    expect(GetItem).toMatchObject({ calls: 2, itemsReturned: 1, capacityUnits: 1 });
    expect(Query).toMatchObject({ calls: 1, itemsReturned: 0, itemsScanned: 1 });
    expect(GetItem?.requestBytes).toBeGreaterThan(80);
    expect(GetItem?.responseBytes).toBeGreaterThan(40);
    stack.endpoint.meter.zero();
    expect(stack.shopMeter()).toEqual({});
  });

  test('counts a call that failed after it was applied, and what it consumed', async () => {
    stack.endpoint.faults.set([{ times: 1, when: 'after', error: 'InternalServerError' }]);
    await expect(stack.shop.send(write('unheard'))).rejects.toMatchObject({ name: 'InternalServerError' });
    expect(stack.shopMeter().TransactWriteItems).toMatchObject({ calls: 1, failed: 0, injected: 1, itemsWritten: 2 });
    expect(stack.shopMeter().TransactWriteItems?.capacityUnits).toBeGreaterThanOrEqual(4);
  });
});

test('every distinct call is recorded once, and written when the endpoint closes', async () => {
  const before = stack.endpoint.recorded();
  expect(before).toContainEqual({
    functionId: 'Shop',
    action: 'dynamodb:PutItem',
    resource: journalArn,
    context: { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] },
    allowed: true,
  });
  expect(before).toContainEqual(
    expect.objectContaining({ action: 'dynamodb:PutItem', resource: journalArn, context: {}, allowed: false }),
  );
  expect(before.filter(({ action, resource }) => action === 'dynamodb:GetItem' && resource === ordersArn)).toHaveLength(
    1,
  );
  const second = await startAwsEndpoint({
    template,
    dynamodbUrl: stack.engine.endpoint,
    snsUrl: '',
    recordTo: recordings,
  });
  const client = new DynamoDBClient({ endpoint: second.url, region, credentials: second.credentialsFor('Shop') });
  await client.send(read('any'));
  await second.close();
  expect(readRecordings(recordings)).toEqual([expect.objectContaining({ action: 'dynamodb:GetItem', allowed: true })]);
});

test('a role that is not understood stops the start', async () => {
  const Orders = {
    ...smallResources.RolePolicy.Properties,
    PolicyDocument: { Version: '1', Statement: [{ NotAction: 'x' }] },
  };
  const RolePolicy = { ...smallResources.RolePolicy, Properties: Orders };
  const odd = readWritten({ Resources: { ...smallResources, RolePolicy } });
  await expect(startAwsEndpoint({ template: odd, dynamodbUrl: '', snsUrl: '' })).rejects.toThrow(/RolePolicy says/);
});
