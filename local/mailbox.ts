import type { RequestListener } from 'node:http';
import { html, raw } from 'hono/html';
import type { TopicsAndQueues } from './topics-and-queues.ts';

/** What the topic would have sent to a person's mailbox, telephone or server. */
export interface Message {
  to: string;
  role: string | null;
  /** Only a message for one person names one. */
  approver: string | null;
  kind: string | null;
  channel: 'email' | 'sms' | 'https';
  /** Not for SMS. */
  subject?: string;
  text: string;
  requestId: string | null;
  at: string;
}

export interface Mailbox {
  /** All so far, newest last. */
  messages(): Promise<readonly Message[]>;
  /** `GET /messages` as JSON, `GET /` as a page. */
  listener: RequestListener;
}

export function openMailbox(queues: TopicsAndQueues): Mailbox {
  const kept: Message[] = [];
  let reading: Promise<unknown> = Promise.resolve();

  async function read(): Promise<readonly Message[]> {
    for (const { queue, channel, to } of queues.subscriptions)
      for (const body of await queues.drain(queue)) kept.push(messageOf(body, channel, to));
    return kept.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  }

  const messages = () => {
    const next = reading.then(read);
    reading = next.catch(() => {});
    return next;
  };

  return {
    messages,
    listener: (request, response) => {
      const path = request.url?.split('?')[0];
      const refuse = (status: number, error: string) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
      if (request.method !== 'GET') refuse(405, `${request.method} is not allowed; GET is`);
      else if (path !== '/' && path !== '/messages') refuse(404, `there is no ${path}; there are / and /messages`);
      else
        messages().then(
          async (all) => {
            const page = path === '/' ? String(await pageOf(all)) : JSON.stringify(all);
            response
              .writeHead(200, {
                'content-type': path === '/' ? 'text/html; charset=utf-8' : 'application/json',
                'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
                'cache-control': 'no-store',
                'x-content-type-options': 'nosniff',
              })
              .end(page);
          },
          (error) => refuse(500, String(error)),
        );
    },
  };
}

interface Envelope {
  Subject?: string;
  Message: string;
  Timestamp: string;
  MessageAttributes?: Record<string, { Value: string }>;
}

function messageOf(body: string, channel: Message['channel'], to: string): Message {
  const { Subject, Message: parts, Timestamp, MessageAttributes = {} } = JSON.parse(body) as Envelope;
  const byChannel = JSON.parse(parts) as Record<string, string>;
  const attribute = (name: string) => MessageAttributes[name]?.Value ?? null;
  return {
    to,
    role: attribute('role'),
    approver: attribute('approver'),
    kind: attribute('kind'),
    channel,
    ...(Subject === undefined || channel === 'sms' ? {} : { subject: Subject }),
    text: byChannel[channel] ?? byChannel.default ?? '',
    requestId: attribute('id')?.split('/')[0] ?? null,
    at: Timestamp,
  };
}

const style = `:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
article { border-top: 1px solid #999; padding: 1rem 0 } h2 { font-size: 1.15rem; margin: .5rem 0 } p { margin: .5rem 0 }
pre { white-space: pre-wrap; font: .9rem/1.45 ui-monospace, monospace; margin: .5rem 0 0 }`;

/** Newest first, for people. */
const pageOf = (all: readonly Message[]) => html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mailbox</title><style>${raw(style)}</style></head>
<body>
<h1>Mailbox</h1>
<p>What the topic would have sent. <a href="/">Reload</a> · <a href="/messages">as JSON</a></p>
${all.length === 0 ? html`<p>Nothing yet.</p>` : ''}
${all.toReversed().map(
  ({ channel, to, subject, text, at }) => html`<article>
<p><strong>${channel === 'sms' ? 'SMS' : channel === 'email' ? 'E-mail' : 'HTTPS'}</strong> to ${to}, <time>${at}</time></p>
${subject === undefined ? '' : html`<h2>${subject}</h2>`}
<pre>${withLinks(text)}</pre>
</article>`,
)}
</body>
</html>`;

/** Addresses become links, as mail programs make them; everything is escaped. */
const withLinks = (text: string) =>
  text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, index) => (index % 2 === 1 ? html`<a href="${part}">${part}</a>` : part));
