import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AwsEndpoint, engineCredentials, startAwsEndpoint } from '../../local/aws-endpoint.ts';
import { type Engine, startEngine } from '../../local/dynamodb-engine.ts';
import { createPlayedTables } from '../../local/played-tables.ts';
import { readRecordings } from '../../local/recorded-calls.ts';
import { journalArn, ordersArn, readWritten, smallResources, topicArn } from './player-assembly.ts';

const region = 'eu-central-1';
const template = readWritten({ Resources: smallResources });
const recordings = mkdtempSync(join(tmpdir(), 'recordings-'));
let engine: Engine;
let topics: FauxqsServer;
let endpoint: AwsEndpoint;
let shop: DynamoDBClient;
let shopTopic: SNSClient;
let direct: DynamoDBClient;

beforeAll(async () => {
  engine = await startEngine();
  topics = await startFauxqs({ port: 0, logger: false });
  topics.createTopic('Topic', { region });
  topics.createQueue('heard', { region });
  topics.subscribe({ topic: 'Topic', queue: 'heard', region });
  direct = new DynamoDBClient({ endpoint: engine.endpoint, region, credentials: engineCredentials });
  await createPlayedTables(template, direct);
  endpoint = await startAwsEndpoint({
    template,
    dynamodbUrl: engine.endpoint,
    snsUrl: topics.address,
    recordTo: recordings,
  });
  const asShop = { endpoint: endpoint.url, region, credentials: endpoint.credentialsFor('Shop') };
  shop = new DynamoDBClient({ ...asShop, maxAttempts: 1 });
  shopTopic = new SNSClient({ ...asShop, maxAttempts: 1 });
});

beforeEach(() => {
  endpoint.faults.clear();
  endpoint.meter.zero();
});

afterAll(async () => {
  for (const client of [shop, shopTopic, direct]) client?.destroy();
  await endpoint?.close();
  await topics?.stop();
  await engine?.stop();
});

const order = (orderId: string) => ({
  Put: { TableName: 'Orders', Item: { orderId: { S: orderId }, customer: { S: 'c' }, at: { S: orderId } } },
});
const entry = (run: string, sequence = 1) => ({
  Put: {
    TableName: 'Journal',
    Item: { run: { S: run }, sequence: { N: String(sequence) } },
    ConditionExpression: 'attribute_not_exists(#run)',
    ExpressionAttributeNames: { '#run': 'run' },
  },
});
const write = (id: string) => new TransactWriteItemsCommand({ TransactItems: [order(id), entry(id)] });
const read = (orderId: string) => new GetItemCommand({ TableName: 'Orders', Key: { orderId: { S: orderId } } });
const publish = (topic = topicArn) => new PublishCommand({ TopicArn: topic, Message: 'hello' });
const isStored = async (orderId: string) => (await direct.send(read(orderId))).Item !== undefined;
const shopMeter = () => endpoint.meter.snapshot().functions.shop ?? {};

describe('passing on', () => {
  test('what the role allows reaches the engine, and the answer is the one that was asked for', async () => {
    await shop.send(write('passed'));
    const { Item, ConsumedCapacity } = await shop.send(read('passed'));
    expect(Item).toEqual(order('passed').Put.Item);
    expect(ConsumedCapacity).toBeUndefined();
    const measured = await shop.send(new GetItemCommand({ ...read('passed').input, ReturnConsumedCapacity: 'TOTAL' }));
    expect(measured.ConsumedCapacity?.CapacityUnits).toBe(0.5);
  });

  test('the engine refusing a condition is told with its reasons', async () => {
    await shop.send(write('twice'));
    await expect(shop.send(write('twice'))).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
    });
  });

  test('a message reaches the topic', async () => {
    await shopTopic.send(publish());
    expect(topics.inspectQueue('heard')?.messages.ready.map(({ body }) => body)).toContainEqual(
      expect.stringContaining('hello'),
    );
  });
});

describe('refusing', () => {
  test('an entry outside of a transaction is refused as AWS refuses it, and nothing is written', async () => {
    const put = new PutItemCommand({ TableName: 'Journal', Item: entry('alone').Put.Item });
    await expect(shop.send(put)).rejects.toMatchObject({
      name: 'AccessDeniedException',
      $metadata: { httpStatusCode: 400 },
      message: expect.stringMatching(/^shop \(Shop\): nothing in the role allows dynamodb:PutItem on .*Journal$/),
    });
    const key = { TableName: 'Journal', Key: entry('alone').Put.Item };
    expect((await direct.send(new GetItemCommand(key))).Item).toBeUndefined();
    expect(shopMeter().PutItem).toMatchObject({ refused: 1, calls: 0 });
  });

  test('one item that is not allowed refuses the whole transaction', async () => {
    const remove = { Delete: { TableName: 'Journal', Key: entry('gone').Put.Item } };
    const both = new TransactWriteItemsCommand({ TransactItems: [order('halved'), remove] });
    await expect(shop.send(both)).rejects.toThrow(/DeleteItem on .*Journal \(dynamodb:EnclosingOperation/);
    expect(await isStored('halved')).toBe(false);
  });

  test('another topic', async () => {
    await expect(shopTopic.send(publish(`${topicArn}2`))).rejects.toMatchObject({
      name: 'AuthorizationErrorException',
      $metadata: { httpStatusCode: 403 },
    });
  });

  test('a caller that is no function, an operation and a service that are not played', async () => {
    const stranger = new DynamoDBClient({
      endpoint: endpoint.url,
      region,
      maxAttempts: 1,
      credentials: { accessKeyId: 'LOCALNobody', secretAccessKey: 'x' },
    });
    await expect(stranger.send(read('passed'))).rejects.toThrow('"LOCALNobody" is no function of the stack');
    await expect(shop.send(new ListTablesCommand({}))).rejects.toThrow(/dynamodb:ListTables is not played/);
    const authorization = 'AWS4-HMAC-SHA256 Credential=LOCALShop/20260101/eu-central-1/s3/aws4_request, Signature=x';
    const answer = await fetch(endpoint.url, { method: 'POST', headers: { authorization } });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('s3 is not played')]);
    expect(() => endpoint.credentialsFor('Nobody')).toThrow(/Nobody is not among/);
  });
});

describe('the meter', () => {
  test('counts calls, capacity, items and bytes by function and operation', async () => {
    await shop.send(write('counted'));
    await shop.send(read('counted'));
    await shop.send(read('nothing'));
    await shop.send(
      new QueryCommand({
        TableName: 'Orders',
        IndexName: 'byCustomer',
        KeyConditionExpression: 'customer = :c AND #at = :at',
        FilterExpression: 'attribute_exists(#total)',
        ExpressionAttributeNames: { '#at': 'at', '#total': 'total' },
        ExpressionAttributeValues: { ':c': { S: 'c' }, ':at': { S: 'counted' } },
      }),
    );
    const { TransactWriteItems, GetItem, Query } = shopMeter();
    expect(TransactWriteItems).toMatchObject({ calls: 1, failed: 0, itemsWritten: 2 });
    expect(TransactWriteItems?.capacityUnits).toBeGreaterThanOrEqual(4);
    expect(GetItem).toMatchObject({ calls: 2, itemsReturned: 1, capacityUnits: 1 });
    expect(Query).toMatchObject({ calls: 1, itemsReturned: 0, itemsScanned: 1 });
    expect(GetItem?.requestBytes).toBeGreaterThan(80);
    expect(GetItem?.responseBytes).toBeGreaterThan(40);
    endpoint.meter.zero();
    expect(shopMeter()).toEqual({});
  });

  test('counts a call that failed after it was applied, and what it consumed', async () => {
    endpoint.faults.set([{ times: 1, when: 'after', error: 'InternalServerError' }]);
    await expect(shop.send(write('unheard'))).rejects.toMatchObject({ name: 'InternalServerError' });
    expect(shopMeter().TransactWriteItems).toMatchObject({ calls: 1, failed: 0, injected: 1, itemsWritten: 2 });
    expect(shopMeter().TransactWriteItems?.capacityUnits).toBeGreaterThanOrEqual(4);
  });
});

describe('faults', () => {
  test('before: nothing is applied; after: it is, and the caller cannot tell', async () => {
    for (const [when, applied] of [
      ['before', false],
      ['after', true],
    ] as const) {
      endpoint.faults.set([{ function: 'shop', operation: 'TransactWriteItems', times: 1, when, error: 'socket' }]);
      await expect(shop.send(write(`socket-${when}`))).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(await isStored(`socket-${when}`)).toBe(applied);
    }
  });

  test('a conflict of a transaction has its reasons; of a single write it is an exception of its own', async () => {
    endpoint.faults.set([{ times: 2, when: 'before', error: 'TransactionConflict' }]);
    const failure = await shop.send(write('conflict')).catch((error) => error);
    expect(failure).toBeInstanceOf(TransactionCanceledException);
    expect(failure.CancellationReasons.map(({ Code }: { Code: string }) => Code)).toEqual([
      'TransactionConflict',
      'None',
    ]);
    const update = new UpdateItemCommand({ TableName: 'Orders', Key: { orderId: { S: 'conflict' } } });
    await expect(shop.send(update)).rejects.toMatchObject({ name: 'TransactionConflictException' });
    expect(await isStored('conflict')).toBe(false);
  });

  test.each(['ThrottlingException', 'ProvisionedThroughputExceededException', 'InternalServerError'] as const)(
    '%s is the SDK’s own',
    async (error) => {
      endpoint.faults.set([{ operation: 'GetItem', times: 1, when: 'before', error }]);
      await expect(shop.send(read('any'))).rejects.toMatchObject({ name: error });
    },
  );

  test('the SDK makes four calls to DynamoDB, and three to SNS, before it gives up', async () => {
    const patient = { endpoint: endpoint.url, region, credentials: endpoint.credentialsFor('Shop') };
    endpoint.faults.set([{ times: 10, when: 'before', error: 'InternalServerError' }]);
    await expect(new DynamoDBClient(patient).send(read('any'))).rejects.toMatchObject({ name: 'InternalServerError' });
    await expect(new SNSClient(patient).send(publish())).rejects.toThrow();
    expect(shopMeter()).toMatchObject({ GetItem: { injected: 4, calls: 0 }, Publish: { injected: 3, calls: 0 } });
    expect(endpoint.faults.rules()).toMatchObject([{ times: 3 }]);
  });

  test('a timeout gives no answer at all', async () => {
    endpoint.faults.set([{ times: 1, when: 'after', error: 'timeout' }]);
    const abortSignal = AbortSignal.timeout(150);
    await expect(shop.send(write('silent'), { abortSignal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(await isStored('silent')).toBe(true);
  });

  test('the topic fails in its own words', async () => {
    endpoint.faults.set([{ operation: 'Publish', times: 2, when: 'before', error: 'ThrottlingException' }]);
    await expect(shopTopic.send(publish())).rejects.toMatchObject({ name: expect.stringMatching(/^Throttl/) });
    endpoint.faults.set([{ operation: 'Publish', times: 1, when: 'before', error: 'InternalServerError' }]);
    await expect(shopTopic.send(publish())).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
  });

  test('a rule strikes only its function and operation, as often as it says', async () => {
    endpoint.faults.set([{ function: 'Shop', operation: 'GetItem', times: 1, when: 'before', error: 'socket' }]);
    await shop.send(write('spared'));
    await expect(shop.send(read('spared'))).rejects.toThrow();
    await shop.send(read('spared'));
  });

  test.each([
    [[{ times: 1, when: 'after', error: 'TransactionConflict' }], /nothing was applied, so it cannot come after/],
    [[{ times: 0, when: 'before', error: 'socket' }], /times/],
    [[{ function: 'nobody', times: 1, when: 'before', error: 'socket' }], /"nobody" is no function.*shop, Shop/],
    [[{ operation: 'Publish', times: 1, when: 'before', error: 'TransactionConflict' }], /Publish never fails with/],
    [[{ operation: 'GetAll', times: 1, when: 'before', error: 'socket' }], /operation/],
    [{ times: 1 }, /expected array/],
  ])('a rule that could not strike is refused: %j', (rules, message) => {
    expect(() => endpoint.faults.set(rules)).toThrow(message);
  });
});

test('every distinct call is recorded once, and written when the endpoint closes', async () => {
  const before = endpoint.recorded();
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
  const second = await startAwsEndpoint({ template, dynamodbUrl: engine.endpoint, snsUrl: '', recordTo: recordings });
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
