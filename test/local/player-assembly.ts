// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub is written so
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PlayedTemplate, readTemplate } from '../../local/template.ts';

export interface WrittenTemplate {
  Resources?: Record<string, unknown>;
  Outputs?: Record<string, unknown>;
  [section: string]: unknown;
}

/** Writes a folder as `cdk synth` does: the manifest, one stack, its metadata, one asset `bundle`. */
export function writeAssembly(template: WrittenTemplate, environment = 'aws://unknown-account/eu-central-1'): string {
  const folder = mkdtempSync(join(tmpdir(), 'player-'));
  const write = (file: string, value: unknown) => writeFileSync(join(folder, file), JSON.stringify(value));
  mkdirSync(join(folder, 'asset.bundle'));
  write('manifest.json', {
    version: '55.0.0',
    artifacts: {
      Small: {
        type: 'aws:cloudformation:stack',
        environment,
        properties: { templateFile: 'Small.template.json' },
        additionalMetadataFile: 'Small.metadata.json',
      },
    },
  });
  write('Small.template.json', { Resources: {}, ...template });
  const metadata = Object.keys(template.Resources ?? {}).map((logicalId) => [
    `/Small/${logicalId.toLowerCase()}/function/Resource`,
    [{ type: 'aws:cdk:logicalId', data: logicalId }],
  ]);
  write('Small.metadata.json', Object.fromEntries(metadata));
  write('Small.assets.json', { files: { bundle: { source: { path: 'asset.bundle', packaging: 'zip' } } } });
  return folder;
}

export const readWritten = (template: WrittenTemplate, environment?: string): PlayedTemplate =>
  readTemplate(writeAssembly(template, environment), { apiEndpoint: 'http://localhost:8787' });

const joined = (...parts: unknown[]) => ({ 'Fn::Join': ['', parts] });
const arnOf = (logicalId: string) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });

const inTransaction = { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } };

/** Two tables, a topic, and a function that may read the one, put into the other inside a transaction, and publish. */
export const smallResources = {
  Orders: {
    Type: 'AWS::DynamoDB::GlobalTable',
    Properties: {
      AttributeDefinitions: ['orderId', 'customer', 'at'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: [{ AttributeName: 'orderId', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byCustomer',
          KeySchema: [
            { AttributeName: 'customer', KeyType: 'HASH' },
            { AttributeName: 'at', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['total'] },
        },
      ],
      BillingMode: 'PAY_PER_REQUEST',
      Replicas: [{ Region: { Ref: 'AWS::Region' }, DeletionProtectionEnabled: true }],
    },
  },
  Journal: {
    Type: 'AWS::DynamoDB::GlobalTable',
    Properties: {
      AttributeDefinitions: [
        { AttributeName: 'run', AttributeType: 'S' },
        { AttributeName: 'sequence', AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: 'run', KeyType: 'HASH' },
        { AttributeName: 'sequence', KeyType: 'RANGE' },
      ],
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      BillingMode: 'PAY_PER_REQUEST',
      Replicas: [{ Region: 'eu-central-1' }],
    },
  },
  Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
  Key: { Type: 'AWS::KMS::Key', Properties: {} },
  Role: {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: {},
      Policies: [
        {
          PolicyName: 'grants',
          PolicyDocument: {
            Version: '2012-10-17',
            Statement: [
              {
                Effect: 'Allow',
                Action: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
                Resource: arnOf('Orders'),
              },
              { Effect: 'Allow', Action: 'dynamodb:Query', Resource: joined(arnOf('Orders'), '/index/byCustomer') },
              {
                Effect: 'Allow',
                Action: ['dynamodb:PutItem', 'dynamodb:ConditionCheckItem'],
                Resource: [arnOf('Orders'), arnOf('Journal')],
                Condition: inTransaction,
              },
              { Sid: 'AwsUsesKey', Effect: 'Allow', Action: 'kms:Decrypt', Resource: arnOf('Key') },
            ],
          },
        },
      ],
    },
  },
  RolePolicy: {
    Type: 'AWS::IAM::Policy',
    Properties: {
      PolicyName: 'more',
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: 'sns:Pub*', Resource: { Ref: 'Topic' } }],
      },
      Roles: [{ Ref: 'Role' }],
    },
  },
  Shop: {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Code: { S3Bucket: { 'Fn::Sub': 'assets-${AWS::AccountId}-eu-central-1' }, S3Key: 'bundle.zip' },
      Role: arnOf('Role'),
      Environment: { Variables: { ORDERS_TABLE: { Ref: 'Orders' }, GONE: { Ref: 'AWS::NoValue' } } },
    },
  },
};

export const ordersArn = 'arn:aws:dynamodb:eu-central-1:000000000000:table/Orders';
export const journalArn = 'arn:aws:dynamodb:eu-central-1:000000000000:table/Journal';
export const topicArn = 'arn:aws:sns:eu-central-1:000000000000:Topic';
