import { Annotations, CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { Alerts } from './alerts.ts';
import { Api } from './api.ts';
import { keepsFailedBatch, readsStream, usesTableKey, usesTopicKey } from './aws-uses.ts';
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
  constructor(scope: Construct, id: string, props: CountersignStackProps) {
    super(scope, id, props);
    const { config, policy, bundles } = props;
    const { region } = config;

    const key = new Key(this, 'key', { enableKeyRotation: true, removalPolicy: RemovalPolicy.RETAIN });
    const { requests, audit } = new Tables(this, 'tables', key).byName;
    const alerts = new Alerts(this, 'alerts', { encryptionKey: key, subscriptions: config.subscriptions });
    const failed = new Queue(this, 'failed', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const api = new Api(this, 'api');
    const webUrl = config.webUrl ?? api.url;
    const { scopePrefix, rolesClaim } = config;
    const identity = config.identity ?? new Identity(this, 'identity', { webUrl, scopePrefix, roles: policy.roles });

    const grants = grantsOf({ requests, audit, alerts: alerts.topic });
    const streamArn = audit.tableStreamArn ?? '';
    const awsUses = {
      requests: [usesTableKey(key, region, 'writes')],
      decisions: [usesTableKey(key, region, 'writes')],
      pages: [usesTableKey(key, region, 'writes')],
      reads: [usesTableKey(key, region, 'reads')],
      wait: [usesTableKey(key, region, 'reads')],
      sweep: [usesTableKey(key, region, 'writes'), usesTopicKey(key, region)],
      dispatch: [
        usesTableKey(key, region, 'writes'),
        usesTopicKey(key, region),
        ...readsStream(streamArn),
        keepsFailedBatch(failed),
      ],
    };
    const values = {
      requestsTable: requests.tableName,
      auditTable: audit.tableName,
      alertsTopic: alerts.topic.topicArn,
      webUrl,
      issuer: identity.issuer,
      audience: identity.audience.join(' '),
      webClientId: identity.webClientId,
      rolesClaim,
      scopePrefix,
    };
    const lambdas = eachFunction(
      (name) =>
        new ServiceFunction(this, name, {
          bundle: bundles[name],
          environment: environmentOf(name, values),
          grants: [...grants[name], ...awsUses[name]],
          memorySize: functions[name].memorySize,
          timeout: functions[name].timeout,
          // Waiting never starves deciding.
          ...(name === 'wait' && { reservedConcurrency: config.waitConcurrency }),
        }).lambda,
    );

    api.addRoutes({ issuer: identity.issuer, audience: identity.audience, scopePrefix, functions: lambdas });
    const { sweep, dispatch } = lambdas;
    const { sweepMinutes, alarmEmail } = config;
    new SweepAndDispatch(this, 'sweepAndDispatch', { sweep, sweepMinutes, dispatch, audit, failed });
    new Operations(this, 'operations', { encryptionKey: key, failed, sweep, sweepMinutes, alarmEmail });
    new CfnOutput(this, 'issuer', { value: identity.issuer }).overrideLogicalId('Issuer');
    this.#warnOfUnheardRoles(config, policy);
  }

  #warnOfUnheardRoles({ subscriptions }: StackConfig, { roles }: DeployedPolicy) {
    const heard = new Set(subscriptions.flatMap((subscription) => subscription.roles));
    const unheard = roles.filter((role) => !heard.has(role));
    if (unheard.length === 0) return;
    const text = `No subscription reaches ${unheard.join(', ')}: whoever has these roles must look at the pages by themselves.`;
    Annotations.of(this).addWarningV2('countersign:unheardRoles', text);
  }
}
