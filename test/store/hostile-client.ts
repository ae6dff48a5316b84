import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { newId } from './requests.ts';

/** Which operations fail, how often, and with what. They stand below the SDK's own retries, which count as calls too. */
export interface Hostility {
  operation: 'TransactWriteItems' | 'UpdateItem' | 'Query' | 'GetItem' | 'BatchGetItem';
  times: number;
  error: () => Error;
}

/** The call never reaches the table. */
export function failBeforeApplying(client: DynamoDBDocumentClient, { operation, times, error }: Hostility): void {
  let left = times;
  intercept(client, operation, async (call) => {
    if (left-- > 0) throw error();
    return call();
  });
}

/** The call is applied and its acknowledgement lost. */
export function failAfterApplying(client: DynamoDBDocumentClient, { operation, times, error }: Hostility): void {
  let left = times;
  intercept(client, operation, async (call) => {
    const answer = await call();
    if (left-- > 0) throw error();
    return answer;
  });
}

/** The table no longer knows the token of a try before this one (as after ten minutes, or on an engine without tokens). */
export function forgetTokens(client: DynamoDBDocumentClient): void {
  intercept(client, 'TransactWriteItems', (call, request) => {
    const text = Buffer.from(request.body as Uint8Array).toString('utf8');
    request.body = text.replace(/"ClientRequestToken":"[^"]*"/, `"ClientRequestToken":"${newId()}"`);
    return call();
  });
}

/** A planted fault: nobody can see whose entry stands in the place of ours. */
export function neverReadBack(client: DynamoDBDocumentClient): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      try {
        const answer = await next(args);
        return context.commandName === 'QueryCommand' ? { ...answer, output: { ...answer.output, Items: [] } } : answer;
      } catch (error) {
        if (error instanceof TransactionCanceledException)
          for (const reason of error.CancellationReasons ?? []) delete reason.Item;
        throw error;
      }
    },
    { step: 'initialize' },
  );
}

type Request = { headers: Record<string, string>; body: unknown };

function intercept<Answer>(
  client: DynamoDBDocumentClient,
  operation: Hostility['operation'],
  around: (call: () => Promise<Answer>, request: Request) => Promise<Answer>,
): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as Request;
      if (!request.headers['x-amz-target']?.endsWith(`.${operation}`)) return next(args);
      return around(() => next(args) as Promise<Answer>, request) as ReturnType<typeof next>;
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
}

const refused = { httpStatusCode: 400 };

/** Every way in which DynamoDB or the way to it fails without fault of the caller. */
export const mishaps: Record<string, () => Error> = {
  'a cancelled transaction in conflict with another': () =>
    new TransactionCanceledException({
      message: 'Transaction cancelled [None, TransactionConflict]',
      CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
      $metadata: refused,
    }),
  'a cancelled transaction that is throttled': () =>
    new TransactionCanceledException({
      message: 'Transaction cancelled [ThrottlingError]',
      CancellationReasons: [{ Code: 'ThrottlingError' }],
      $metadata: refused,
    }),
  'a conflict with a transaction': () => new TransactionConflictException({ message: 'conflict', $metadata: refused }),
  throttling: () => new ProvisionedThroughputExceededException({ message: 'slow down', $metadata: refused }),
  'an internal error': () =>
    Object.assign(new Error('internal'), { name: 'InternalServerError', $metadata: { httpStatusCode: 500 } }),
  'a broken connection': () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
  'a timeout': () => Object.assign(new Error('too slow'), { name: 'TimeoutError' }),
};

/** Those after which the call may have been applied. */
export const unclearMishaps = ['an internal error', 'a broken connection', 'a timeout'] as const;
