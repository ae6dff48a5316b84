import { buildApp } from 'fauxqs';
import type { PlayedTemplate } from './template.ts';
import { refuseUnplayed, sectionOf, textOf } from './template-properties.ts';
import { publishFault } from './topic-limits.ts';

/** A subscription of the template; what it lets through lies in `queue`. */
interface PlayedSubscription {
  channel: 'email' | 'sms' | 'https';
  to: string;
  queue: string;
}

export interface TopicsAndQueues {
  /** SNS and SQS. */
  url: string;
  subscriptions: readonly PlayedSubscription[];
  /** To a queue of the template, by its ARN. */
  send(queueArn: string, body: string): Promise<void>;
  /** Takes everything out of a queue, in order. */
  drain(queue: string): Promise<string[]>;
  close(): Promise<void>;
}

const channels = ['email', 'sms', 'https'] as const;

/**
 * SNS and SQS (fauxqs) on a free port of the loopback interface, with the template's topics and queues, and with a queue of
 * its own, behind the same filter, for each subscription: fauxqs delivers to queues only.
 */
export async function startTopicsAndQueues(template: PlayedTemplate): Promise<TopicsAndQueues> {
  const app = buildApp({ logger: false, host: 'localhost', defaultRegion: template.region });
  app.addHook('preHandler', async (request, reply) => {
    const fault = publishFault(request.body);
    if (fault) return reply.status(400).header('content-type', 'text/xml').send(fault);
  });

  async function sqs(action: string, input: object): Promise<Record<string, unknown>> {
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` };
    const answer = await app.inject({ method: 'POST', url: '/', headers, payload: JSON.stringify(input) });
    if (answer.statusCode !== 200) throw new Error(`SQS ${action}: ${answer.body}`);
    return answer.body === '' ? {} : answer.json();
  }

  async function sns(input: Record<string, string>): Promise<void> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const payload = new URLSearchParams(input).toString();
    const answer = await app.inject({ method: 'POST', url: '/', headers, payload });
    if (answer.statusCode !== 200) throw new Error(`SNS ${input.Action}: ${answer.body}`);
  }

  const urls = new Map<string, string>();
  async function createQueue(name: string): Promise<void> {
    const { QueueUrl } = await sqs('CreateQueue', { QueueName: name });
    urls.set(name, String(QueueUrl));
  }

  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  for (const { logicalId } of template.ofType('AWS::SQS::Queue')) await createQueue(logicalId);
  for (const { logicalId } of template.ofType('AWS::SNS::Topic')) await sns({ Action: 'CreateTopic', Name: logicalId });
  const subscriptions: PlayedSubscription[] = [];
  for (const { logicalId, properties } of template.ofType('AWS::SNS::Subscription')) {
    refuseUnplayed(properties, ['TopicArn', 'Protocol', 'Endpoint', 'FilterPolicy', 'FilterPolicyScope'], logicalId);
    const protocol = textOf(properties, 'Protocol', logicalId);
    const channel = channels.find((one) => one === protocol);
    if (!channel) throw new Error(`${logicalId}: the protocol ${protocol} is not played; ${channels.join(', ')} are`);
    const queue = `mailbox-${subscriptions.length}`;
    await createQueue(queue);
    await sns({
      Action: 'Subscribe',
      TopicArn: textOf(properties, 'TopicArn', logicalId),
      Protocol: 'sqs',
      Endpoint: `arn:aws:sqs:${template.region}:${template.accountId}:${queue}`,
      ...attributesOf(properties, logicalId),
    });
    subscriptions.push({ channel, to: textOf(properties, 'Endpoint', logicalId), queue });
  }

  return {
    url,
    subscriptions,
    async send(queueArn, body) {
      await sqs('SendMessage', { QueueUrl: urls.get(queueArn.split(':').at(-1) ?? ''), MessageBody: body });
    },
    async drain(queue) {
      const bodies: string[] = [];
      for (;;) {
        const received = await sqs('ReceiveMessage', { QueueUrl: urls.get(queue), MaxNumberOfMessages: 10 });
        const messages = (received.Messages ?? []) as { Body: string; ReceiptHandle: string }[];
        if (messages.length === 0) return bodies;
        for (const { Body, ReceiptHandle } of messages) {
          bodies.push(Body);
          await sqs('DeleteMessage', { QueueUrl: urls.get(queue), ReceiptHandle });
        }
      }
    },
    close: () => app.close(),
  };
}

function attributesOf(properties: Record<string, unknown>, logicalId: string): Record<string, string> {
  if (properties.FilterPolicy === undefined) return {};
  return {
    'Attributes.entry.1.key': 'FilterPolicy',
    'Attributes.entry.1.value': JSON.stringify(sectionOf(properties, 'FilterPolicy', logicalId)),
    'Attributes.entry.2.key': 'FilterPolicyScope',
    'Attributes.entry.2.value': String(properties.FilterPolicyScope ?? 'MessageAttributes'),
  };
}
