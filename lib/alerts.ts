import { CfnOutput } from 'aws-cdk-lib';
import type { Key } from 'aws-cdk-lib/aws-kms';
import { Subscription, SubscriptionFilter, SubscriptionProtocol, Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { StackConfig } from './stack-config.ts';

export interface AlertsProps {
  readonly encryptionKey: Key;
  readonly subscriptions: StackConfig['subscriptions'];
}

const protocols = {
  email: SubscriptionProtocol.EMAIL,
  sms: SubscriptionProtocol.SMS,
  https: SubscriptionProtocol.HTTPS,
} as const satisfies Record<StackConfig['subscriptions'][number]['protocol'], SubscriptionProtocol>;

/** One topic; each subscription hears only its roles, and nothing that is meant for one person. */
export class Alerts extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, { encryptionKey, subscriptions }: AlertsProps) {
    super(scope, id);
    this.topic = new Topic(this, 'topic', { displayName: 'Approvals', masterKey: encryptionKey, enforceSSL: true });
    for (const { protocol, endpoint, roles } of subscriptions) {
      new Subscription(this, `${protocol} ${endpoint.replaceAll('/', '|')}`, {
        topic: this.topic,
        protocol: protocols[protocol],
        endpoint,
        filterPolicy: {
          role: SubscriptionFilter.stringFilter({ allowlist: [...roles] }),
          approver: SubscriptionFilter.notExistsFilter(),
        },
      });
    }
    const output = new CfnOutput(this, 'topicArn', { value: this.topic.topicArn });
    output.overrideLogicalId('AlertsTopicArn');
  }
}
