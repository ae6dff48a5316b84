import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { tables } from '../adapters/dynamodb/tables.ts';
import type { FunctionName } from './functions.ts';

type Index = keyof (typeof tables)['requests']['indexes'];
type Operation = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'ConditionCheckItem';

export interface GrantedResources {
  requests: TableV2;
  audit: TableV2;
  policies: TableV2;
  samples: TableV2;
  escalations: TableV2;
  alerts: ITopic;
}

/**
 * What the code of each function does, and nothing else. Evidence is only ever put, and only inside a transaction: no
 * function can write an entry without the change that it records, nor touch one that is there.
 */
export function grantsOf({
  requests,
  audit,
  policies,
  samples,
  escalations,
  alerts,
}: GrantedResources): Record<FunctionName, PolicyStatement[]> {
  const index = (name: Index) => `${requests.tableArn}/index/${name}`;
  const write = () => [
    may(requests.tableArn, 'Query', 'UpdateItem'),
    may(audit.tableArn, 'Query'),
    inTransaction(requests.tableArn, 'PutItem', 'DeleteItem'),
    inTransaction(audit.tableArn, 'PutItem'),
  ];
  const publish = () => new PolicyStatement({ actions: ['sns:Publish'], resources: [alerts.topicArn] });
  return {
    requests: [
      ...write(),
      may(requests.tableArn, 'BatchGetItem'),
      may(policies.tableArn, 'BatchGetItem', 'GetItem'),
      inTransaction(requests.tableArn, 'ConditionCheckItem'),
      inTransaction(policies.tableArn, 'PutItem', 'ConditionCheckItem'),
      inTransaction(samples.tableArn, 'PutItem', 'UpdateItem'),
      inTransaction(escalations.tableArn, 'PutItem'),
    ],
    decisions: [...write(), may(requests.tableArn, 'BatchGetItem'), may(policies.tableArn, 'GetItem')],
    policies: [
      may(requests.tableArn, 'BatchGetItem', 'Query', 'UpdateItem'),
      may(audit.tableArn, 'Query'),
      may(policies.tableArn, 'BatchGetItem', 'GetItem', 'Query'),
      inTransaction(requests.tableArn, 'PutItem'),
      inTransaction(audit.tableArn, 'PutItem'),
      inTransaction(policies.tableArn, 'PutItem'),
    ],
    pages: [
      ...write(),
      may(requests.tableArn, 'BatchGetItem'),
      may(policies.tableArn, 'GetItem'),
      may(index('pendingByRole'), 'Query'),
    ],
    reads: [
      may(requests.tableArn, 'Query'),
      may(index('pendingByRole'), 'Query'),
      may(index('byRun'), 'Query'),
      may(index('closed'), 'Query'),
      may(audit.tableArn, 'Query'),
    ],
    wait: [may(requests.tableArn, 'GetItem', 'Query')],
    sweep: [...write(), may(index('due'), 'Query'), publish()],
    dispatch: [may(requests.tableArn, 'Query', 'UpdateItem'), publish()],
  };
}

const may = (tableOrIndexArn: string, ...operations: Operation[]) =>
  new PolicyStatement({ actions: operations.map((name) => `dynamodb:${name}`), resources: [tableOrIndexArn] });

/** `ForAnyValue`: with `ForAllValues` a plain call, which has no enclosing operation, would pass. */
const inTransaction = (tableArn: string, ...operations: Operation[]) =>
  new PolicyStatement({
    actions: operations.map((name) => `dynamodb:${name}`),
    resources: [tableArn],
    conditions: { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } },
  });
