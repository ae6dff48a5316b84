import {
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { startFauxqs } from 'fauxqs';
import { engineCredentials, startAwsEndpoint } from '../../local/aws-endpoint.ts';
import { startEngine } from '../../local/dynamodb-engine.ts';
import { createPlayedTables } from '../../local/played-tables.ts';
import { readWritten, smallResources, topicArn } from './player-assembly.ts';

export const region = 'eu-central-1';
export const template = readWritten({ Resources: smallResources });

/** The small stack on a DynamoDB engine and fauxqs, with clients that call as its function `Shop` and try once. */
export async function startSmallStack(recordTo?: string) {
  const engine = await startEngine();
  const topics = await startFauxqs({ port: 0, logger: false });
  topics.createTopic('Topic', { region });
  topics.createQueue('heard', { region });
  topics.subscribe({ topic: 'Topic', queue: 'heard', region });
  const direct = new DynamoDBClient({ endpoint: engine.endpoint, region, credentials: engineCredentials });
  await createPlayedTables(template, direct);
  const endpoint = await startAwsEndpoint({ template, dynamodbUrl: engine.endpoint, snsUrl: topics.address, recordTo });
  const asShop = {
    endpoint: endpoint.url,
    region,
    credentials: endpoint.credentialsFor('Shop'),
  } satisfies DynamoDBClientConfig;
  const shop = new DynamoDBClient({ ...asShop, maxAttempts: 1 });
  const shopTopic = new SNSClient({ ...asShop, maxAttempts: 1 });
  return {
    engine,
    topics,
    endpoint,
    direct,
    shop,
    shopTopic,
    /** To make clients that try as often as the SDK does by itself. */
    asShop,
    isStored: async (orderId: string) => (await direct.send(read(orderId))).Item !== undefined,
    shopMeter: () => endpoint.meter.snapshot().functions.shop ?? {},
    stop: async () => {
      for (const client of [shop, shopTopic, direct]) client.destroy();
      await endpoint.close();
      await topics.stop();
      await engine.stop();
    },
  };
}

export type SmallStack = Awaited<ReturnType<typeof startSmallStack>>;

export const order = (orderId: string) => ({
  Put: { TableName: 'Orders', Item: { orderId: { S: orderId }, customer: { S: 'c' }, at: { S: orderId } } },
});

/** An entry that must not exist yet. */
export const entry = (run: string, sequence = 1) => ({
  Put: {
    TableName: 'Journal',
    Item: { run: { S: run }, sequence: { N: String(sequence) } },
    ConditionExpression: 'attribute_not_exists(#run)',
    ExpressionAttributeNames: { '#run': 'run' },
  },
});

export const write = (id: string) => new TransactWriteItemsCommand({ TransactItems: [order(id), entry(id)] });
export const read = (orderId: string) => new GetItemCommand({ TableName: 'Orders', Key: { orderId: { S: orderId } } });
export const publish = (topic = topicArn) => new PublishCommand({ TopicArn: topic, Message: 'hello' });
