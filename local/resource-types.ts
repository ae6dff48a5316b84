/** Addresses that only the running service knows. */
export interface Surroundings {
  /** Where the HTTP API listens, without a slash at the end. */
  apiEndpoint: string;
  /** The identity provider, for a stack that makes a user pool of its own. */
  issuer?: string;
}

export interface Naming {
  accountId: string;
  region: string;
  surroundings: Surroundings;
}

type Name = (logicalId: string, naming: Naming) => string;

/** What `Ref` and `Fn::GetAtt` give for a type. Nothing else of it may be named in a template. */
export interface PlayedType {
  ref?: Name;
  attributes?: Readonly<Record<string, Name>>;
  /** This property would fix a name; names are made from logical ids, so it is refused. */
  nameProperty?: string;
}

const itself: Name = (logicalId) => logicalId;

const arn =
  (service: string, before = '', after = ''): Name =>
  (logicalId, { accountId, region }) =>
    `arn:aws:${service}:${service === 'iam' ? '' : region}:${accountId}:${before}${logicalId}${after}`;

const issuer: Name = (logicalId, { surroundings }) => {
  if (surroundings.issuer) return surroundings.issuer;
  throw new Error(`${logicalId}: the address of the user pool is asked for, and no issuer was given`);
};

const table: PlayedType = {
  ref: itself,
  attributes: {
    Arn: arn('dynamodb', 'table/'),
    StreamArn: arn('dynamodb', 'table/', '/stream/2000-01-01T00:00:00.000'),
  },
  nameProperty: 'TableName',
};

export const playedTypes: Readonly<Record<string, PlayedType>> = {
  'AWS::ApiGatewayV2::Api': {
    ref: itself,
    attributes: { ApiId: itself, ApiEndpoint: (_, { surroundings }) => surroundings.apiEndpoint },
  },
  'AWS::ApiGatewayV2::Authorizer': { ref: itself, attributes: { AuthorizerId: itself } },
  'AWS::ApiGatewayV2::Integration': { ref: itself },
  'AWS::ApiGatewayV2::Route': { ref: itself },
  'AWS::ApiGatewayV2::Stage': { ref: itself },
  'AWS::Cognito::UserPool': {
    ref: itself,
    attributes: { Arn: arn('cognito-idp', 'userpool/'), ProviderURL: issuer, UserPoolId: itself },
    nameProperty: 'UserPoolName',
  },
  'AWS::Cognito::UserPoolClient': { ref: itself, attributes: { ClientId: itself } },
  'AWS::Cognito::UserPoolDomain': { ref: itself },
  'AWS::Cognito::UserPoolGroup': { ref: itself },
  'AWS::Cognito::UserPoolResourceServer': { ref: itself },
  'AWS::DynamoDB::GlobalTable': table,
  'AWS::DynamoDB::Table': table,
  'AWS::Events::Rule': { ref: itself, attributes: { Arn: arn('events', 'rule/') }, nameProperty: 'Name' },
  'AWS::IAM::Policy': { ref: itself },
  'AWS::IAM::Role': { ref: itself, attributes: { Arn: arn('iam', 'role/') }, nameProperty: 'RoleName' },
  'AWS::Lambda::EventInvokeConfig': {},
  'AWS::Lambda::EventSourceMapping': { ref: itself },
  'AWS::Lambda::Function': {
    ref: itself,
    attributes: { Arn: arn('lambda', 'function:') },
    nameProperty: 'FunctionName',
  },
  'AWS::Lambda::Permission': {},
  'AWS::SNS::Subscription': { ref: arn('sns') },
  'AWS::SNS::Topic': {
    ref: arn('sns'),
    attributes: { TopicArn: arn('sns'), TopicName: itself },
    nameProperty: 'TopicName',
  },
  'AWS::SQS::Queue': {
    ref: (logicalId, { accountId, region }) => `https://sqs.${region}.amazonaws.com/${accountId}/${logicalId}`,
    attributes: { Arn: arn('sqs'), QueueName: itself },
    nameProperty: 'QueueName',
  },
  'AWS::Scheduler::Schedule': { ref: itself, attributes: { Arn: arn('scheduler', 'schedule/default/') } },
};

/** A type that the local service need not play: why, and what other resources may say of it. */
export interface InertType extends PlayedType {
  reason: string;
}

export const inertTypes: Readonly<Record<string, InertType>> = {
  'AWS::CDK::Metadata': { reason: 'only counts CDK versions' },
  'AWS::CloudWatch::Alarm': {
    reason: 'watches what only AWS measures',
    ref: itself,
    attributes: { Arn: arn('cloudwatch', 'alarm:') },
  },
  'AWS::CloudWatch::Dashboard': { reason: 'shows what only AWS measures', ref: itself },
  'AWS::KMS::Alias': { reason: 'names a key', ref: itself },
  'AWS::KMS::Key': {
    reason: 'encrypts at rest; local data is as safe as the disk it is on',
    ref: itself,
    attributes: { Arn: arn('kms', 'key/'), KeyId: itself },
  },
  'AWS::Logs::LogGroup': {
    reason: 'logs go to the terminal',
    ref: itself,
    attributes: { Arn: arn('logs', 'log-group:', ':*') },
  },
  'AWS::Logs::MetricFilter': { reason: 'counts log lines for alarms' },
  'AWS::SNS::TopicPolicy': { reason: 'is about callers from outside the stack: inside, roles decide', ref: itself },
  'AWS::SQS::QueuePolicy': { reason: 'is about callers from outside the stack: inside, roles decide' },
};
