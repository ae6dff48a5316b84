import { DynamoDBClient, TransactionCanceledException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { SNSClient } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { publish, read, type SmallStack, startSmallStack, write } from './player-small-stack.ts';

let stack: SmallStack;
beforeAll(async () => {
  stack = await startSmallStack();
});
beforeEach(() => {
  stack.endpoint.faults.clear();
  stack.endpoint.meter.zero();
});
afterAll(() => stack?.stop());

describe('faults', () => {
  test('before: nothing is applied; after: it is, and the caller cannot tell', async () => {
    for (const [when, applied] of [
      ['before', false],
      ['after', true],
    ] as const) {
      stack.endpoint.faults.set([
        { function: 'shop', operation: 'TransactWriteItems', times: 1, when, error: 'socket' },
      ]);
      await expect(stack.shop.send(write(`socket-${when}`))).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(await stack.isStored(`socket-${when}`)).toBe(applied);
    }
  });

  test('a conflict of a transaction has its reasons; of a single write it is an exception of its own', async () => {
    stack.endpoint.faults.set([{ times: 2, when: 'before', error: 'TransactionConflict' }]);
    const failure = await stack.shop.send(write('conflict')).catch((error) => error);
    expect(failure).toBeInstanceOf(TransactionCanceledException);
    expect(failure.CancellationReasons.map(({ Code }: { Code: string }) => Code)).toEqual([
      'TransactionConflict',
      'None',
    ]);
    const update = new UpdateItemCommand({ TableName: 'Orders', Key: { orderId: { S: 'conflict' } } });
    await expect(stack.shop.send(update)).rejects.toMatchObject({ name: 'TransactionConflictException' });
    expect(await stack.isStored('conflict')).toBe(false);
  });

  test.each(['ThrottlingException', 'ProvisionedThroughputExceededException', 'InternalServerError'] as const)(
    '%s is the SDK’s own',
    async (error) => {
      stack.endpoint.faults.set([{ operation: 'GetItem', times: 1, when: 'before', error }]);
      await expect(stack.shop.send(read('any'))).rejects.toMatchObject({ name: error });
    },
  );

  test('the SDK makes four calls to DynamoDB, and three to SNS, before it gives up', async () => {
    stack.endpoint.faults.set([{ times: 10, when: 'before', error: 'InternalServerError' }]);
    await expect(new DynamoDBClient(stack.asShop).send(read('any'))).rejects.toMatchObject({
      name: 'InternalServerError',
    });
    await expect(new SNSClient(stack.asShop).send(publish())).rejects.toThrow();
    expect(stack.shopMeter()).toMatchObject({ GetItem: { injected: 4, calls: 0 }, Publish: { injected: 3, calls: 0 } });
    expect(stack.endpoint.faults.rules()).toMatchObject([{ times: 3 }]);
  });

  test('a timeout gives no answer at all', async () => {
    stack.endpoint.faults.set([{ times: 1, when: 'after', error: 'timeout' }]);
    const abortSignal = AbortSignal.timeout(150);
    await expect(stack.shop.send(write('silent'), { abortSignal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(await stack.isStored('silent')).toBe(true);
  });

  test('the topic fails in its own words', async () => {
    stack.endpoint.faults.set([{ operation: 'Publish', times: 2, when: 'before', error: 'ThrottlingException' }]);
    await expect(stack.shopTopic.send(publish())).rejects.toMatchObject({ name: expect.stringMatching(/^Throttl/) });
    stack.endpoint.faults.set([{ operation: 'Publish', times: 1, when: 'before', error: 'InternalServerError' }]);
    await expect(stack.shopTopic.send(publish())).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
  });

  test('a rule strikes only its function and operation, as often as it says', async () => {
    stack.endpoint.faults.set([{ function: 'Shop', operation: 'GetItem', times: 1, when: 'before', error: 'socket' }]);
    await stack.shop.send(write('spared'));
    await expect(stack.shop.send(read('spared'))).rejects.toThrow();
    await stack.shop.send(read('spared'));
  });

  test.each([
    [[{ times: 1, when: 'after', error: 'TransactionConflict' }], /nothing was applied, so it cannot come after/],
    [[{ times: 0, when: 'before', error: 'socket' }], /times/],
    [[{ function: 'nobody', times: 1, when: 'before', error: 'socket' }], /"nobody" is no function.*shop, Shop/],
    [[{ operation: 'Publish', times: 1, when: 'before', error: 'TransactionConflict' }], /Publish never fails with/],
    [[{ operation: 'GetAll', times: 1, when: 'before', error: 'socket' }], /operation/],
    [{ times: 1 }, /expected array/],
  ])('a rule that could not strike is refused: %j', (rules, message) => {
    expect(() => stack.endpoint.faults.set(rules)).toThrow(message);
  });
});
