import { Duration, Validations } from 'aws-cdk-lib';
import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { awsUses, writesLog } from './aws-uses.ts';
import type { FunctionName } from './functions.ts';

export interface ServiceFunctionProps {
  /** A folder with `index.js`. */
  readonly bundle: string;
  readonly environment: Readonly<Record<string, string>>;
  /** All that the function may do; nothing is added but writing its own log. */
  readonly grants: readonly PolicyStatement[];
  readonly memorySize: number;
  /** Seconds. */
  readonly timeout: number;
  /** @default - shares what the account has */
  readonly reservedConcurrency?: number;
}

/** One Lambda function with its own log and a role that holds exactly what it was given. */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;
  readonly log: LogGroup;

  constructor(scope: Construct, id: FunctionName, props: ServiceFunctionProps) {
    super(scope, id);
    this.log = new LogGroup(this, 'log', { retention: RetentionDays.SIX_MONTHS });
    const role = new Role(this, 'role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { grants: new PolicyDocument({ statements: [...props.grants, writesLog(this.log)] }) },
    });
    if (props.grants.some(({ resources }) => resources.includes('*'))) {
      // The one grant on "*" is AwsListsStreams; `awsUses` gives its reason.
      Validations.of(role).acknowledge({ id: 'AwsSolutions-IAM5[Resource::*]', reason: awsUses.AwsListsStreams });
    }
    this.lambda = new LambdaFunction(this, 'function', {
      description: `Countersign: ${id}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(props.bundle),
      handler: 'index.handler',
      role,
      logGroup: this.log,
      environment: { ...props.environment },
      memorySize: props.memorySize,
      timeout: Duration.seconds(props.timeout),
      ...(props.reservedConcurrency && { reservedConcurrentExecutions: props.reservedConcurrency }),
    });
  }
}
