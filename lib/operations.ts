import { Aws, CfnOutput, Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Subscription, SubscriptionProtocol, Topic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

export interface OperationsProps {
  readonly key: Key;
  readonly failed: Queue;
  readonly sweep: Lambda;
  readonly sweepMinutes: number;
  /** @default - nobody is subscribed; the topic's address is an output */
  readonly alarmEmail?: string | undefined;
}

const fiveMinutes = { period: Duration.minutes(5), statistic: Stats.SUM };

/** A count that the functions print in the embedded metric format. */
const counted = (metricName: string) => new Metric({ namespace: 'Countersign', metricName, ...fiveMinutes });

/** What whoever runs Countersign must hear of. */
export class Operations extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, props: OperationsProps) {
    super(scope, id);
    this.topic = new Topic(this, 'topic', {
      displayName: 'Countersign operations',
      masterKey: props.key,
      enforceSSL: true,
    });
    props.key.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AlarmsReachTheirTopic',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
        // In a key's own policy "*" is that key.
        resources: ['*'],
      }),
    );
    // A topic with a policy of its own lets nobody in whom that policy does not name, not even the account's alarms.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AlarmsOfThisAccount',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    const { alarmEmail: endpoint } = props;
    if (endpoint)
      new Subscription(this, 'email', { topic: this.topic, protocol: SubscriptionProtocol.EMAIL, endpoint });
    new CfnOutput(this, 'topicArn', { value: this.topic.topicArn }).overrideLogicalId('OperationsTopicArn');

    this.#alarm('auditTampered', counted('UnexpectedAuditRecord'), 'An audit entry was changed or removed.');
    this.#alarm(
      'sweepLeavesSome',
      counted('SweepFailed'),
      'The sweep meets requests that it cannot handle; its log names them.',
    );
    this.#alarm('sweepFails', props.sweep.metricErrors(fiveMinutes), 'The sweep ends with an error.');
    this.#alarm(
      'undelivered',
      props.failed.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5), statistic: Stats.MAXIMUM }),
      'Audit records that dispatch could not handle wait in the dead-letter queue.',
    );
    const silence = Duration.minutes(Math.max(5, 3 * props.sweepMinutes));
    this.#alarm(
      'sweepSilent',
      props.sweep.metricInvocations({ period: silence, statistic: Stats.SUM }),
      'The sweep has not run: nothing times out, nothing escalates.',
      { comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD, treatMissingData: TreatMissingData.BREACHING },
    );
  }

  #alarm(id: string, metric: Metric, alarmDescription: string, unlike: Partial<AlarmRule> = {}) {
    const alarm = new Alarm(this, id, {
      metric,
      alarmDescription,
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...unlike,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
  }
}

interface AlarmRule {
  comparisonOperator: ComparisonOperator;
  treatMissingData: TreatMissingData;
}
