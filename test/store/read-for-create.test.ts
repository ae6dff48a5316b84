import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { readForCreate } from '../../adapters/dynamodb/read-for-create.ts';

type Answer = { Responses?: Record<string, object[]>; UnprocessedKeys?: Record<string, object> };

/** Engines never leave keys over; DynamoDB does where it is short of capacity. */
function shortOf(answers: Answer[]) {
  const asked: string[][] = [];
  const waits: number[] = [];
  const client = {
    send: async ({ input }: { input: { RequestItems: Record<string, object> } }) => {
      asked.push(Object.keys(input.RequestItems));
      return answers.length > 1 ? answers.shift() : answers[0];
    },
  } as unknown as DynamoDBDocumentClient;
  const world = {
    now: () => '',
    randomId: () => '',
    draw: () => 1,
    pause: async (wait: number) => void waits.push(wait),
  };
  const tables = { requestsTable: 'r', auditTable: 'a', policiesTable: 'p', samplesTable: 's', escalationsTable: 'e' };
  return { asked, waits, read: () => readForCreate({ client, world, ...tables }, 'id', 'sales') };
}

test('what DynamoDB had no room for is asked for again, and only that', async () => {
  const head = { missionId: 'sales', version: 'head', newest: 3, digest: 'sha256:' };
  const { read, asked, waits } = shortOf([
    { Responses: { r: [] }, UnprocessedKeys: { p: {} } },
    { Responses: { p: [head] }, UnprocessedKeys: {} },
  ]);
  expect(await read()).toEqual({ head: { newest: 3, digest: 'sha256:' } });
  expect([asked, waits.length]).toEqual([[['p', 'r'], ['p']], 1]);
});

test('what stays unanswered is an error and never an absent policy', async () => {
  const { read, asked } = shortOf([{ UnprocessedKeys: { p: {} } }]);
  await expect(read()).rejects.toMatchObject({ name: 'ThrottlingException' });
  expect(asked.length).toBeGreaterThan(5);
});
