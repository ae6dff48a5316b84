import type { Answer, AwsProtocol, Place } from './aws-protocol.ts';
import type { Usage } from './meter.ts';
import type { Call } from './permissions.ts';

const ofOneTable = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'] as const;
const ofOneTableOrIndex = ['Query', 'Scan'] as const;
const batches = ['BatchGetItem', 'BatchWriteItem'] as const;
const transactions = ['TransactGetItems', 'TransactWriteItems'] as const;

/** All that touch items, but PartiQL. Each reports the capacity that it consumed. */
export const dynamodbOperations = [...ofOneTable, ...ofOneTableOrIndex, ...batches, ...transactions] as const;
type Operation = (typeof dynamodbOperations)[number];

/** Each item of a transaction needs the permission of the single call. */
const actionOfItem: Readonly<Record<string, string>> = {
  Get: 'dynamodb:GetItem',
  Put: 'dynamodb:PutItem',
  Update: 'dynamodb:UpdateItem',
  Delete: 'dynamodb:DeleteItem',
  ConditionCheck: 'dynamodb:ConditionCheckItem',
};

interface Body {
  TableName?: string;
  IndexName?: string;
  RequestItems?: Record<string, unknown[]>;
  TransactItems?: Record<string, { TableName: string }>[];
  ReturnConsumedCapacity?: string;
}

interface Result {
  ConsumedCapacity?: Capacity | Capacity[];
  Item?: unknown;
  Count?: number;
  ScannedCount?: number;
  Responses?: { Item?: unknown }[] | Record<string, unknown[]>;
}
interface Capacity {
  CapacityUnits?: number;
}

const target = 'DynamoDB_20120810.';

/** DynamoDB: JSON, the operation in `X-Amz-Target`. */
export const dynamodb: AwsProtocol = {
  understand(headers, text, place) {
    const named = headers['x-amz-target']?.replace(target, '');
    const operation = dynamodbOperations.find((name) => name === named);
    if (!operation) {
      throw new Error(`dynamodb:${named} is not played for functions; allowed: ${dynamodbOperations.join(', ')}`);
    }
    const body: Body = JSON.parse(text);
    const measured = body.ReturnConsumedCapacity !== undefined && body.ReturnConsumedCapacity !== 'NONE';
    return {
      operation,
      calls: callsOf(operation, body, place),
      body: measured ? text : JSON.stringify({ ...body, ReturnConsumedCapacity: 'TOTAL' }),
      read: (answer) => {
        if (answer.status !== 200) return { answer, usage: {} };
        const { ConsumedCapacity, ...rest }: Result = JSON.parse(answer.body);
        const usage = { ...usageOf(operation, body, rest), capacityUnits: unitsOf(ConsumedCapacity) };
        return { answer: measured ? answer : { ...answer, body: JSON.stringify(rest) }, usage };
      },
      fail: (error) => {
        switch (error) {
          case 'TransactionConflict':
            return operation.startsWith('Transact') ? cancelled(body) : conflict;
          case 'ThrottlingException':
            return failure(400, 'com.amazon.coral.availability#ThrottlingException', 'Rate exceeded');
          case 'ProvisionedThroughputExceededException':
            return failure(
              400,
              `${own}ProvisionedThroughputExceededException`,
              'The level of throughput was exceeded.',
            );
          case 'InternalServerError':
            return failure(500, `${own}InternalServerError`, 'Internal server error');
        }
      },
    };
  },
  refused: (reason) => failure(400, 'com.amazon.coral.service#AccessDeniedException', reason),
  unknownCaller: (accessKeyId) =>
    failure(
      400,
      'com.amazon.coral.service#UnrecognizedClientException',
      `"${accessKeyId}" is no function of the stack`,
    ),
  notPlayed: (message) => failure(400, 'com.amazon.coral.service#UnknownOperationException', message),
};

function callsOf(operation: Operation, body: Body, place: Place): Call[] {
  const action = `dynamodb:${operation}`;
  const arnOf = (table: string | undefined) => {
    if (!table) throw new Error(`${action} names no table`);
    return table.startsWith('arn:') ? table : `arn:aws:dynamodb:${place.region}:${place.accountId}:table/${table}`;
  };
  if (isOneOf(ofOneTable, operation)) return [{ action, resource: arnOf(body.TableName), context: {} }];
  if (isOneOf(ofOneTableOrIndex, operation)) {
    const index = body.IndexName ? `/index/${body.IndexName}` : '';
    return [{ action, resource: `${arnOf(body.TableName)}${index}`, context: {} }];
  }
  if (isOneOf(batches, operation)) {
    return Object.keys(body.RequestItems ?? {}).map((table) => ({ action, resource: arnOf(table), context: {} }));
  }
  return (body.TransactItems ?? []).flatMap((item) =>
    Object.entries(item).map(([kind, { TableName }]) => {
      const itemAction = actionOfItem[kind];
      if (!itemAction) throw new Error(`${action} with a member ${kind} is not played`);
      return {
        action: itemAction,
        resource: arnOf(TableName),
        context: { 'dynamodb:EnclosingOperation': [operation] },
      };
    }),
  );
}

function usageOf(operation: Operation, body: Body, result: Result): Partial<Usage> {
  switch (operation) {
    case 'GetItem':
      return { itemsReturned: result.Item ? 1 : 0 };
    case 'Query':
    case 'Scan':
      return { itemsReturned: result.Count ?? 0, itemsScanned: result.ScannedCount ?? 0 };
    case 'BatchGetItem':
      return { itemsReturned: Object.values(result.Responses ?? {}).flat().length };
    case 'TransactGetItems':
      return { itemsReturned: Object.values(result.Responses ?? {}).filter((one) => 'Item' in one).length };
    case 'PutItem':
    case 'UpdateItem':
    case 'DeleteItem':
      return { itemsWritten: 1 };
    case 'BatchWriteItem':
      return { itemsWritten: Object.values(body.RequestItems ?? {}).flat().length };
    case 'TransactWriteItems':
      return { itemsWritten: (body.TransactItems ?? []).filter((item) => !('ConditionCheck' in item)).length };
  }
}

const unitsOf = (consumed: Capacity | Capacity[] | undefined) =>
  [consumed ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);

const own = 'com.amazonaws.dynamodb.v20120810#';
const conflictMessage = 'Transaction is ongoing for the item';

function failure(status: number, type: string, message: string, members: object = {}): Answer {
  // Both spellings: which one AWS sends depends on where in it the error arises.
  const body = JSON.stringify({ __type: type, message, Message: message, ...members });
  return { status, contentType: 'application/x-amz-json-1.0', body };
}

const conflict = failure(400, `${own}TransactionConflictException`, conflictMessage);

/** The first item of the transaction is in conflict with another one; none is written. */
function cancelled(body: Body): Answer {
  const reasons = (body.TransactItems ?? []).map((_, index) =>
    index === 0 ? { Code: 'TransactionConflict', Message: conflictMessage } : { Code: 'None' },
  );
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return failure(
    400,
    `${own}TransactionCanceledException`,
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}

const isOneOf = (allowed: readonly string[], given: string) => allowed.includes(given);
