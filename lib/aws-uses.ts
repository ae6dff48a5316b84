import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';

/**
 * What AWS itself does in a function's name, so that no call of the code ever shows it. By the statement's `Sid`, with
 * the reason; every other statement in a role is there for a call that the code makes.
 */
export const awsUses = {
  AwsWritesLog: 'The Lambda runtime writes what the function prints.',
  AwsUsesTableKey: 'DynamoDB encrypts and decrypts with the customer-managed key on behalf of whoever calls it.',
  AwsUsesTopicKey: 'SNS encrypts with the customer-managed key on behalf of whoever publishes.',
  AwsReadsStream:
    'The event source mapping reads the audit table’s stream with the role of the function that it wakes.',
  AwsListsStreams: 'The event source mapping needs it; dynamodb:ListStreams knows no narrower resource than "*".',
  AwsKeepsFailedBatch:
    'The event source mapping puts what failed too often into the dead-letter queue with the role of the function.',
} as const;

const statement = (
  sid: keyof typeof awsUses,
  resource: string,
  actions: string[],
  conditions?: Record<string, unknown>,
) => new PolicyStatement({ sid, actions, resources: [resource], ...(conditions && { conditions }) });

const through = (service: string, region: string) => ({
  StringEquals: { 'kms:ViaService': `${service}.${region}.amazonaws.com` },
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

export const usesTableKey = (key: IKey, region: string, does: 'reads' | 'writes') =>
  statement(
    'AwsUsesTableKey',
    key.keyArn,
    does === 'writes' ? [...toRead, ...toWrite] : toRead,
    through('dynamodb', region),
  );

export const usesTopicKey = (key: IKey, region: string) =>
  statement('AwsUsesTopicKey', key.keyArn, ['kms:Decrypt', 'kms:GenerateDataKey'], through('sns', region));

export const readsStream = (streamArn: string) => [
  statement('AwsReadsStream', streamArn, [
    'dynamodb:DescribeStream',
    'dynamodb:GetRecords',
    'dynamodb:GetShardIterator',
  ]),
  statement('AwsListsStreams', '*', ['dynamodb:ListStreams']),
];

export const keepsFailedBatch = (queue: IQueue) =>
  statement('AwsKeepsFailedBatch', queue.queueArn, ['sqs:SendMessage']);
