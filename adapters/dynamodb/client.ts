import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * Region, endpoint and credentials come from the environment, as everywhere in AWS, unless `overrides` names them. An
 * answer that takes two seconds is given up: whoever waits is better served by another try. Numbers are read one by one,
 * so that an odd one spoils its own record and not the page that it stands on.
 */
export function createClient(overrides: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
    ...overrides,
  });
  return DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: { wrapNumbers: (text) => Number(text) },
  });
}
