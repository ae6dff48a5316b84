import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listening, listenOn } from '../../local/listening.ts';
import { type Message, openMailbox } from '../../local/mailbox.ts';
import { startTopicsAndQueues, type TopicsAndQueues } from '../../local/topics-and-queues.ts';
import { readWritten } from './player-assembly.ts';

let queues: TopicsAndQueues;
let sns: SNSClient;
let listening: Listening;

const subscription = (Protocol: string, Endpoint: string, role: string[]) => ({
  Type: 'AWS::SNS::Subscription',
  Properties: {
    TopicArn: { Ref: 'Topic' },
    Protocol,
    Endpoint,
    FilterPolicy: { role, approver: [{ exists: false }] },
  },
});

beforeAll(async () => {
  const template = readWritten({
    Resources: {
      Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
      AliceByMail: subscription('email', 'alice@example.org', ['support_agent', 'support_manager']),
      AliceBySms: subscription('sms', '+491701234501', ['support_agent', 'support_manager']),
      CarolByMail: subscription('email', 'carol@example.org', ['senior_manager']),
      Hook: subscription('https', 'https://example.org/hook', ['senior_manager']),
    },
  });
  queues = await startTopicsAndQueues(template);
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  sns = new SNSClient({ endpoint: queues.url, region: template.region, credentials });
  listening = await listenOn([0]);
  listening.answerWith(openMailbox(queues).listener);
});
afterAll(async () => {
  sns.destroy();
  await listening.close();
  await queues.close();
});

const text = (StringValue: string) => ({ DataType: 'String', StringValue });

function publish(attributes: Record<string, string>, changes: Record<string, string> = {}) {
  return sns.send(
    new PublishCommand({
      TopicArn: 'arn:aws:sns:eu-central-1:000000000000:Topic',
      Subject: 'Decide: refund',
      MessageStructure: 'json',
      Message: JSON.stringify({ default: 'both', email: 'the mail', sms: 'the sms' }),
      MessageAttributes: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, text(value)])),
      ...changes,
    }),
  );
}

const messages = async () => (await (await fetch(`${listening.url}/messages`)).json()) as Message[];
const messagesOf = async (requestId: string) => (await messages()).filter((message) => message.requestId === requestId);

test('each subscription hears only its roles, in its own words', async () => {
  await publish({ role: 'support_agent', kind: 'asked', level: '0', id: 'r1/asked-0-support_agent' });
  const seen = await messagesOf('r1');
  expect(seen).toHaveLength(2);
  expect(seen).toContainEqual({
    to: 'alice@example.org',
    role: 'support_agent',
    approver: null,
    kind: 'asked',
    channel: 'email',
    subject: 'Decide: refund',
    text: 'the mail',
    requestId: 'r1',
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
  const sms = seen.find(({ channel }) => channel === 'sms');
  expect(sms).toMatchObject({ to: '+491701234501', text: 'the sms' });
  expect(sms).not.toHaveProperty('subject');
  await publish({ role: 'senior_manager', kind: 'asked', level: '0', id: 'r2/asked-0-senior_manager' });
  expect((await messagesOf('r2')).map(({ to, text: words }) => [to, words]).sort()).toEqual([
    ['carol@example.org', 'the mail'],
    ['https://example.org/hook', 'both'],
  ]);
});

test('a message for one person reaches no subscription of a role; one without a role reaches nobody', async () => {
  await publish({ role: 'support_agent', approver: 'bob', id: 'r3/x' });
  await publish({ kind: 'asked', id: 'r3/y' });
  expect(await messagesOf('r3')).toEqual([]);
});

test('newest last', async () => {
  for (const id of ['r4', 'r5', 'r6']) {
    await publish({ role: 'senior_manager', id: `${id}/a` });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const order = (await messages()).map(({ requestId }) => requestId).filter((id) => id && id >= 'r4');
  expect(order).toEqual(['r4', 'r4', 'r5', 'r5', 'r6', 'r6']);
});

test.each([
  ['a subject of 100 characters', { Subject: 'x'.repeat(100) }],
  ['a subject with a line break', { Subject: 'a\nb' }],
  ['a subject that is not ASCII', { Subject: 'Grüße' }],
  ['a message over 256 KiB', { Message: JSON.stringify({ default: 'x'.repeat(262_144) }) }],
  ['a structure without default', { Message: '{"email":"x"}' }],
  ['a structure that is no JSON', { Message: 'hello' }],
])('SNS refuses %s', async (_what, changes) => {
  await expect(publish({ role: 'senior_manager', id: 'r7/a' }, changes)).rejects.toThrow('Invalid parameter');
  expect(await messagesOf('r7')).toEqual([]);
});

test('99 characters and 256 KiB are taken', async () => {
  const Message = JSON.stringify({ default: 'x', email: 'y'.repeat(262_000) });
  await publish({ role: 'senior_manager', id: 'r8/a' }, { Subject: 'x'.repeat(99), Message });
  expect(await messagesOf('r8')).toHaveLength(2);
});

test('the page shows what was written as text, and addresses as links', async () => {
  const email = '<script>alert(1)</script> http://localhost:8787/r/abc "q" & javascript:alert(1)';
  await publish({ role: 'senior_manager', id: 'r9/a' }, { Message: JSON.stringify({ default: 'd', email }) });
  const answer = await fetch(listening.url);
  const page = await answer.text();
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(page).not.toContain('<script>');
  expect(page).toContain('<a href="http://localhost:8787/r/abc">http://localhost:8787/r/abc</a>');
  expect(page).not.toContain('href="javascript');
});
