import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { FunctionName } from './functions.ts';

/**
 * What AWS itself does with a function's role, so that no call of the code ever shows it. By the statement's `Sid`, with
 * the reason; every other statement in a role is there for a call that the code makes.
 */
export const awsUses = {
  AwsWritesLog: 'The Lambda runtime writes what the function prints.',
  AwsUsesTableKey: 'DynamoDB uses the customer-managed key in the name of whoever calls it.',
  AwsUsesTopicKey: 'SNS uses the customer-managed key in the name of whoever publishes.',
  AwsReadsStream:
    'The event source mapping reads the audit table’s stream with the role of the function that it wakes.',
  AwsListsStreams: 'The event source mapping asks for it; dynamodb:ListStreams knows no resource but "*".',
  AwsKeepsFailedBatch: 'The event source mapping puts what failed too often into the dead-letter queue.',
} as const;

const statement = (sid: keyof typeof awsUses, resource: string, actions: string[], viaService?: string) =>
  new PolicyStatement({
    sid,
    actions,
    resources: [resource],
    ...(viaService && { conditions: { StringEquals: { 'kms:ViaService': viaService } } }),
  });

export const writesLog = (log: ILogGroup) =>
  statement('AwsWritesLog', log.logGroupArn, ['logs:CreateLogStream', 'logs:PutLogEvents']);

const toRead = ['kms:Decrypt', 'kms:DescribeKey'];
const toWrite = [
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

export interface AwsUsedResources {
  key: IKey;
  region: string;
  auditStreamArn: string;
  failed: IQueue;
}

/** The statements that each function's role must hold for AWS, beside writing its log. */
export function awsUsesOf({
  key,
  region,
  auditStreamArn,
  failed,
}: AwsUsedResources): Record<FunctionName, PolicyStatement[]> {
  const tableKey = (...actions: string[]) =>
    statement('AwsUsesTableKey', key.keyArn, actions, `dynamodb.${region}.amazonaws.com`);
  const reads = () => tableKey(...toRead);
  const writes = () => tableKey(...toRead, ...toWrite);
  const publishes = () =>
    statement('AwsUsesTopicKey', key.keyArn, ['kms:Decrypt', 'kms:GenerateDataKey'], `sns.${region}.amazonaws.com`);
  return {
    requests: [writes()],
    decisions: [writes()],
    policies: [writes()],
    pages: [writes()],
    reads: [reads()],
    wait: [reads()],
    sweep: [writes(), publishes()],
    dispatch: [
      writes(),
      publishes(),
      statement('AwsReadsStream', auditStreamArn, [
        'dynamodb:DescribeStream',
        'dynamodb:GetRecords',
        'dynamodb:GetShardIterator',
      ]),
      statement('AwsListsStreams', '*', ['dynamodb:ListStreams']),
      statement('AwsKeepsFailedBatch', failed.queueArn, ['sqs:SendMessage']),
    ],
  };
}
