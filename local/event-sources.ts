import { randomUUID } from 'node:crypto';
import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { functionOf } from './api-routes.ts';
import type { Invocation } from './functions.ts';
import { deliverBatch, type StreamBatch, type StreamDelivery } from './stream-batch.ts';
import { type EventSource, readShards, type StreamRecord } from './stream-reader.ts';
import type { PlayedResource, PlayedTemplate } from './template.ts';
import { refuseUnplayed, sectionOf, textListOf, textOf } from './template-properties.ts';

export interface EventSourceSurroundings {
  template: PlayedTemplate;
  database: DynamoDBClient;
  streams: DynamoDBStreamsClient;
  invoke(functionId: string, event: unknown): Promise<Invocation>;
  sendToQueue(queueArn: string, body: string): Promise<void>;
}

const playedMapping = [
  'EventSourceArn',
  'FunctionName',
  'StartingPosition',
  'BatchSize',
  'FunctionResponseTypes',
  'BisectBatchOnFunctionError',
  'MaximumRetryAttempts',
  'MaximumRecordAgeInSeconds',
  'DestinationConfig',
];

/** Every AWS::Lambda::EventSourceMapping on a table's stream: its records go to the function in batches, in order. */
export async function playStreams(surroundings: EventSourceSurroundings): Promise<EventSource> {
  const mappings = surroundings.template.ofType('AWS::Lambda::EventSourceMapping');
  const started = await Promise.all(mappings.map((mapping) => playMapping(surroundings, mapping)));
  return {
    enable: (enabled) => {
      for (const one of started) one.enable(enabled);
    },
    close: async () => {
      await Promise.all(started.map((one) => one.close()));
    },
  };
}

async function playMapping(surroundings: EventSourceSurroundings, mapping: PlayedResource): Promise<EventSource> {
  const { logicalId, properties } = mapping;
  refuseUnplayed(properties, playedMapping, logicalId);
  const sourceArn = textOf(properties, 'EventSourceArn', logicalId);
  const tableName = /:table\/([^/]+)\/stream\//.exec(sourceArn)?.[1];
  if (!tableName) throw new Error(`${logicalId}: ${sourceArn} is not played; the stream of a table is`);
  const { Table } = await surroundings.database.send(new DescribeTableCommand({ TableName: tableName }));
  if (!Table?.LatestStreamArn) throw new Error(`${logicalId}: the table ${tableName} has no stream`);
  const functionName = textOf(properties, 'FunctionName', logicalId);
  const functionId = functionName.startsWith('arn:') ? functionOf(functionName) : functionName;
  const delivery = deliveryOf(surroundings, mapping, functionId, sourceArn);
  return readShards(surroundings.streams, Table.LatestStreamArn, {
    batchSize: Number(properties.BatchSize ?? 100),
    fromStart: textOf(properties, 'StartingPosition', logicalId) === 'TRIM_HORIZON',
    deliver: (batch, going) => deliverBatch(batch, delivery, going),
  });
}

function deliveryOf(
  { template, invoke, sendToQueue }: EventSourceSurroundings,
  { logicalId, properties }: PlayedResource,
  functionId: string,
  sourceArn: string,
): StreamDelivery {
  const responseTypes = properties.FunctionResponseTypes
    ? textListOf(properties, 'FunctionResponseTypes', logicalId)
    : [];
  const destination = properties.DestinationConfig
    ? sectionOf(sectionOf(properties, 'DestinationConfig', logicalId), 'OnFailure', logicalId)
    : undefined;
  return {
    invoke: ({ records }) =>
      invoke(functionId, { Records: records.map((record) => eventRecord(record, sourceArn, template.region)) }),
    partialFailures: responseTypes.includes('ReportBatchItemFailures'),
    bisect: properties.BisectBatchOnFunctionError === true,
    retries: Number(properties.MaximumRetryAttempts ?? -1),
    longestSeconds: Number(properties.MaximumRecordAgeInSeconds ?? -1),
    discard: async (batch, condition) => {
      if (!destination) return;
      const report = failureReport(batch, condition, functionId, sourceArn);
      await sendToQueue(textOf(destination, 'Destination', logicalId), JSON.stringify(report));
    },
  };
}

/** As Lambda hands it on: DynamoDB's JSON, binary values in base64. */
function eventRecord({ dynamodb = {}, eventID, eventName }: StreamRecord, eventSourceARN: string, awsRegion: string) {
  const { ApproximateCreationDateTime, ...others } = dynamodb;
  return {
    eventID,
    eventName,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion,
    dynamodb: {
      ApproximateCreationDateTime: (ApproximateCreationDateTime?.getTime() ?? 0) / 1000,
      ...(inBase64(others) as object),
    },
    eventSourceARN,
  };
}

function inBase64(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(inBase64);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inBase64(member)]));
}

/** What Lambda puts into the queue for a batch that it gives up: where it stands in the stream, not its records. */
function failureReport(
  { shardId, records, attempts }: StreamBatch,
  condition: string,
  functionId: string,
  sourceArn: string,
) {
  const position = (record: StreamRecord | undefined) => record?.dynamodb?.SequenceNumber;
  const arrival = (record: StreamRecord | undefined) => record?.dynamodb?.ApproximateCreationDateTime?.toISOString();
  return {
    requestContext: {
      requestId: randomUUID(),
      functionArn: functionId,
      condition,
      approximateInvokeCount: attempts,
    },
    version: '1.0',
    timestamp: new Date().toISOString(),
    DDBStreamBatchInfo: {
      shardId,
      startSequenceNumber: position(records[0]),
      endSequenceNumber: position(records.at(-1)),
      approximateArrivalOfFirstRecord: arrival(records[0]),
      approximateArrivalOfLastRecord: arrival(records.at(-1)),
      batchSize: records.length,
      streamArn: sourceArn,
    },
  };
}
