import { randomUUID } from 'node:crypto';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord } from 'aws-lambda';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { engineCredentials } from '../../local/aws-endpoint.ts';
import { type Engine, startEngine } from '../../local/dynamodb-engine.ts';
import { playStreams } from '../../local/event-sources.ts';
import type { Invocation } from '../../local/functions.ts';
import { createPlayedTables } from '../../local/played-tables.ts';
import { readWritten } from './player-assembly.ts';

let engine: Engine;
let database: DynamoDBClient;
let streams: DynamoDBStreamsClient;
beforeAll(async () => {
  engine = await startEngine();
  const access = { endpoint: engine.endpoint, region: 'eu-central-1', credentials: engineCredentials };
  database = new DynamoDBClient(access);
  streams = new DynamoDBStreamsClient(access);
});
afterAll(async () => {
  database.destroy();
  streams.destroy();
  await engine.stop();
});

const arnOf = (logicalId: string) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });

/** A table with a stream, its mapping, and a function that a test writes itself. */
async function play(
  handle: (records: DynamoDBRecord[]) => unknown,
  mapping: Record<string, unknown> = {},
): Promise<{ put(sequence: number): Promise<void>; enable(enabled: boolean): void; given: string[] }> {
  const table = `Journal${randomUUID().replaceAll('-', '')}`;
  const template = readWritten({
    Resources: {
      [table]: {
        Type: 'AWS::DynamoDB::GlobalTable',
        Properties: {
          AttributeDefinitions: [
            { AttributeName: 'run', AttributeType: 'S' },
            { AttributeName: 'sequence', AttributeType: 'N' },
          ],
          KeySchema: [
            { AttributeName: 'run', KeyType: 'HASH' },
            { AttributeName: 'sequence', KeyType: 'RANGE' },
          ],
          StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
          BillingMode: 'PAY_PER_REQUEST',
          Replicas: [{ Region: 'eu-central-1' }],
        },
      },
      Failed: { Type: 'AWS::SQS::Queue', Properties: {} },
      Worker: { Type: 'AWS::Lambda::Function', Properties: {} },
      Mapping: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: { 'Fn::GetAtt': [table, 'StreamArn'] },
          FunctionName: { Ref: 'Worker' },
          StartingPosition: 'TRIM_HORIZON',
          BatchSize: 100,
          MaximumRetryAttempts: 2,
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          BisectBatchOnFunctionError: true,
          DestinationConfig: { OnFailure: { Destination: arnOf('Failed') } },
          ...mapping,
        },
      },
    },
  });
  await createPlayedTables(template, database);
  const put = async (sequence: number) => {
    const Item = { run: { S: 'r' }, sequence: { N: String(sequence) }, bytes: { B: new Uint8Array([1, 2]) } };
    await database.send(new PutItemCommand({ TableName: table, Item }));
  };
  const given: string[] = [];
  const invoke = async (_functionId: string, event: unknown): Promise<Invocation> => {
    try {
      const result = handle((event as { Records: DynamoDBRecord[] }).Records);
      return { status: 'returned', payload: JSON.stringify(result ?? null) };
    } catch (error) {
      return {
        status: 'failed',
        reason: 'error',
        failure: { errorType: 'Error', errorMessage: `${error}`, trace: [] },
      };
    }
  };
  const sendToQueue = async (_arn: string, body: string) => void given.push(body);
  const source = await playStreams({ template, database, streams, invoke, sendToQueue });
  onTestFinished(source.close);
  return { put, enable: source.enable, given };
}

const sequenceOf = (record: DynamoDBRecord) => Number(record.dynamodb?.NewImage?.sequence?.N);
const position = (record: DynamoDBRecord | undefined) => record?.dynamodb?.SequenceNumber ?? '';

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: 20_000, interval: 20 }).toBe(true);
}

/** 40 records, of which the 20th cannot be handled; returns what was done and how many batches were given up. */
async function fortyWithOneBad(mapping: Record<string, unknown>, reports: boolean) {
  const done = new Set<number>();
  const { put, enable, given } = await play((records) => {
    for (const record of records) {
      if (sequenceOf(record) === 20 && !reports) throw new Error('bad record');
      if (sequenceOf(record) === 20) return { batchItemFailures: [{ itemIdentifier: position(record) }] };
      done.add(sequenceOf(record));
    }
    return { batchItemFailures: [] };
  }, mapping);
  enable(false);
  for (let sequence = 1; sequence <= 40; sequence++) await put(sequence);
  enable(true);
  await until(() => given.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 500));
  return { done, given: given.map((body) => JSON.parse(body).DDBStreamBatchInfo.batchSize as number) };
}

test('CASE 60: of a batch of 40 with one bad record 39 are done and one is reported', async () => {
  const { done, given } = await fortyWithOneBad({}, true);
  expect(given).toEqual([1]);
  expect([...done].sort((one, other) => one - other)).toEqual(
    Array.from({ length: 40 }, (_, index) => index + 1).filter((sequence) => sequence !== 20),
  );
});

test('CASE 60 holds as well where the function throws', async () => {
  const { done, given } = await fortyWithOneBad({}, false);
  expect([given, done.size]).toEqual([[1], 39]);
});

test('without bisecting the rest of the batch is lost with the bad record: the two tests above can fail', async () => {
  const { done, given } = await fortyWithOneBad({ BisectBatchOnFunctionError: false }, true);
  expect([given, done.size]).toEqual([[21], 19]);
});

test('records look as Lambda hands them on', async () => {
  const seen: DynamoDBRecord[] = [];
  const { put } = await play((records) => void seen.push(...records));
  await put(7);
  await until(() => seen.length > 0);
  expect(seen[0]).toMatchObject({
    eventName: 'INSERT',
    eventSource: 'aws:dynamodb',
    awsRegion: 'eu-central-1',
    dynamodb: {
      Keys: { run: { S: 'r' }, sequence: { N: '7' } },
      NewImage: { run: { S: 'r' }, sequence: { N: '7' }, bytes: { B: 'AQI=' } },
      StreamViewType: 'NEW_IMAGE',
    },
  });
  expect(Math.abs(Number(seen[0]?.dynamodb?.ApproximateCreationDateTime) - Date.now() / 1000)).toBeLessThan(60);
});

test('switched off, nothing is delivered; switched on again, nothing is missing', async () => {
  const seen: number[] = [];
  const { put, enable } = await play((records) => void seen.push(...records.map(sequenceOf)));
  await put(1);
  await until(() => seen.length === 1);
  enable(false);
  await put(2);
  await put(3);
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(seen).toEqual([1]);
  enable(true);
  await until(() => seen.length === 3);
  expect(seen).toEqual([1, 2, 3]);
});

test('what is not played is refused', async () => {
  await expect(play(() => {}, { FilterCriteria: { Filters: [] } })).rejects.toThrow('FilterCriteria is not played');
});
