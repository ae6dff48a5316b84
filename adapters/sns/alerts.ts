import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import type { AlertMessage, Alerts } from '../../core/ports.ts';

const patience = { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true };

/** One topic for everybody: subscriptions pick by the attributes, each protocol gets its own text. */
export const topicAlerts = (topicArn: string, client = new SNSClient({ requestHandler: patience })): Alerts => ({
  publish: async (message: AlertMessage) => {
    await client.send(
      new PublishCommand({
        TopicArn: topicArn,
        Subject: message.subject,
        MessageStructure: 'json',
        Message: JSON.stringify({ default: message.email, email: message.email, sms: message.sms }),
        MessageAttributes: {
          role: text(message.role),
          kind: text(message.kind),
          level: { DataType: 'Number', StringValue: String(message.level) },
          id: text(message.id),
        },
      }),
    );
  },
});

const text = (value: string) => ({ DataType: 'String', StringValue: value });
