import { Annotations, CfnOutput, Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { Alerts } from './alerts.ts';
import { Api } from './api.ts';
import { awsUsesOf } from './aws-uses.ts';
import type { Bundles } from './bundles.ts';
import { eachFunction, environmentOf, functions } from './functions.ts';
import { grantsOf } from './grants.ts';
import { Identity } from './identity.ts';
import { Operations } from './operations.ts';
import type { DeployedPolicy } from './policy.ts';
import { ServiceFunction } from './service-function.ts';
import type { StackConfig } from './stack-config.ts';
import { SweepAndDispatch } from './sweep-and-dispatch.ts';
import { Tables } from './tables.ts';

export interface CountersignStackProps extends StackProps {
  readonly config: StackConfig;
  readonly policy: DeployedPolicy;
  readonly bundles: Bundles;
}

/** The whole of Countersign in one account and region. */
export class CountersignStack extends Stack {
  constructor(scope: Construct, id: string, { config, policy, bundles, ...props }: CountersignStackProps) {
    super(scope, id, props);
    const { region, scopePrefix, rolesClaim, sweepMinutes } = config;

    const key = new Key(this, 'key', { enableKeyRotation: true, removalPolicy: RemovalPolicy.RETAIN });
    const { requests, audit, policies, samples, escalations } = new Tables(this, 'tables', key).byName;
    const alerts = new Alerts(this, 'alerts', { encryptionKey: key, subscriptions: config.subscriptions });
    const failed = this.#deadLetterQueue();
    const api = new Api(this, 'api');
    const webUrl = config.webUrl ?? api.url;
    const identity = config.identity ?? new Identity(this, 'identity', { webUrl, scopePrefix, roles: policy.roles });

    const grants = grantsOf({ requests, audit, policies, samples, escalations, alerts: alerts.topic });
    const awsUses = awsUsesOf({ key, region, auditStreamArn: audit.tableStreamArn ?? '', failed });
    const values = {
      requestsTable: requests.tableName,
      auditTable: audit.tableName,
      policiesTable: policies.tableName,
      samplesTable: samples.tableName,
      escalationsTable: escalations.tableName,
      alertsTopic: alerts.topic.topicArn,
      webUrl,
      issuer: identity.issuer,
      audience: identity.audience.join(' '),
      webClientId: identity.webClientId,
      nameClaim: config.nameClaim ?? (config.identity ? 'sub' : Identity.nameClaim),
      rolesClaim,
      scopePrefix,
    };
    const lambdas = eachFunction((name) => {
      const { lambda } = new ServiceFunction(this, name, {
        bundle: bundles[name],
        environment: environmentOf(name, values),
        grants: [...grants[name], ...awsUses[name]],
        memorySize: functions[name].memorySize,
        timeout: functions[name].timeout,
        // Waiting never starves deciding.
        ...(name === 'wait' && config.waitConcurrency > 0 && { reservedConcurrency: config.waitConcurrency }),
      });
      return lambda;
    });
    const { sweep, dispatch } = lambdas;
    api.addRoutes({ issuer: identity.issuer, audience: identity.audience, scopePrefix, functions: lambdas });
    new SweepAndDispatch(this, 'sweepAndDispatch', { sweep, sweepMinutes, dispatch, audit, failed });
    new Operations(this, 'operations', { key, failed, sweep, sweepMinutes, alarmEmail: config.alarmEmail });
    new CfnOutput(this, 'issuer', { value: identity.issuer }).overrideLogicalId('Issuer');
    this.#warnOfUnheardRoles(config, policy);
  }

  /** What the stream could not deliver after all tries. */
  #deadLetterQueue() {
    const queue = new Queue(this, 'failed', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const reason = 'It is the dead-letter queue of the stream’s event source mapping, where the rule does not look.';
    Validations.of(queue).acknowledge({ id: 'AwsSolutions-SQS3', reason });
    return queue;
  }

  #warnOfUnheardRoles({ subscriptions }: StackConfig, { roles }: DeployedPolicy) {
    const heard = new Set(subscriptions.flatMap((subscription) => subscription.roles));
    const unheard = roles.filter((role) => !heard.has(role));
    if (unheard.length === 0) return;
    const text = `No subscription reaches ${unheard.join(', ')}: whoever has these roles must look at the pages unasked.`;
    Annotations.of(this).addWarningV2('countersign:unheardRoles', text);
  }
}
