import { type Service, startService } from '../../local/service.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at answers of every shape
  body: any;
}

export interface CallOptions {
  /** Whose token; absent: none. */
  as?: string;
  key?: string;
  headers?: Record<string, string>;
  token?: string;
}

let run = 0;
/** A run of its own for each test, so that tests share a service without meeting. */
export const newRun = (): string => `run-${process.pid}-${Date.now().toString(36)}-${++run}`;

export const refund = (amount: number, more: Record<string, unknown> = {}) => ({
  actionName: 'issue_refund',
  actionArgs: { amount, currency: 'EUR', customerId: 'cus_81Q7f', orderId: 'ord_55120' },
  ...more,
});

export const email = (more: Record<string, unknown> = {}) => ({
  actionName: 'send_customer_email',
  actionArgs: { to: 'ada@customer.example', subject: 'Your refund', body: 'Dear Ms Okafor, …' },
  ...more,
});

/** The running service through its front door: real HTTP, with the tokens of DESIGN §9. */
export class Front {
  readonly service: Service;

  constructor(service: Service) {
    this.service = service;
  }

  static async start(options: Parameters<typeof startService>[0] = {}): Promise<Front> {
    return new Front(await startService(options));
  }

  get urls() {
    return this.service.description;
  }

  stop = () => this.service.stop();

  /** `body` as a string goes out as it is. */
  async call(method: string, path: string, options: CallOptions = {}, body?: unknown): Promise<Answer> {
    const { as, key, headers, token = as === undefined ? undefined : this.urls.tokens[as] } = options;
    const response = await fetch(`${this.urls.apiUrl}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, headers: response.headers, body: json && text !== '' ? JSON.parse(text) : text };
  }

  ask = (body: unknown, options: CallOptions = {}) =>
    this.call('POST', '/v1/requests', { as: 'support-bot', ...options }, body);
  get = (id: string, as = 'support-bot', query = '') => this.call('GET', `/v1/requests/${id}${query}`, { as });
  decide = (id: string, as: string, body: unknown) => this.call('POST', `/v1/requests/${id}/decision`, { as }, body);
  approve = (request: { requestId: string; effectiveDigest: string }, as: string) =>
    this.decide(request.requestId, as, { decision: 'approve', argsDigest: request.effectiveDigest });
  reject = (id: string, as: string, note = 'no') => this.decide(id, as, { decision: 'reject', note });
  cancel = (id: string, as = 'support-bot') => this.call('POST', `/v1/requests/${id}/cancellation`, { as }, {});
  revoke = (id: string, as: string, note?: string) =>
    this.call('POST', `/v1/requests/${id}/revocation`, { as }, note === undefined ? {} : { note });
  claim = (id: string, action: object, as = 'support-bot') =>
    this.call('POST', `/v1/requests/${id}/claim`, { as }, action);
  outcome = (id: string, body: object, as = 'support-bot') =>
    this.call('POST', `/v1/requests/${id}/outcome`, { as }, body);
  audit = (runId: string, query = '') => this.call('GET', `/v1/runs/${runId}/audit${query}`, { as: 'dave' });
  verify = (runId: string) => this.call('GET', `/v1/runs/${runId}/audit/verification`, { as: 'dave' });

  async control(method: string, path: string, body?: unknown): Promise<Answer['body']> {
    const response = await fetch(`${this.urls.controlUrl}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  sweep = () => this.control('POST', '/invoke/sweep', {});
  /** Moves the clock that the functions see, from the real one. */
  clock = (offsetSeconds: number) => this.control('PUT', '/clock', { offsetSeconds });
  stream = (enabled: boolean) => this.control('PUT', '/stream', { enabled });
  meter = () => this.control('GET', '/meter');
  zeroMeter = () => this.control('DELETE', '/meter');
  faults = (rules: unknown) => this.control('PUT', '/faults', rules);
  noFaults = () => this.control('DELETE', '/faults');

  /** The mails and SMS about a request, as soon as there are `atLeast` of them. */
  async messages(requestId: string, atLeast = 1): Promise<Record<string, string>[]> {
    for (let tries = 0; ; tries++) {
      const all = (await (await fetch(`${this.urls.mailboxUrl}/messages`)).json()) as Record<string, string>[];
      const found = all.filter((message) => message.requestId === requestId);
      if (found.length >= atLeast || tries > 100) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
