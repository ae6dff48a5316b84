import { setTimeout as pause } from 'node:timers/promises';
import { type ApprovalRequest, connect } from './countersign.ts';

export type Answer = 'yes' | 'no' | 'silence';

/** `.local/service.json`, as much of it as the example needs. */
export interface Service {
  apiUrl: string;
  webUrl: string;
  controlUrl: string;
  issuer: string;
  tokens: Readonly<Record<string, string>>;
}

const notes: Readonly<Record<string, string>> = {
  send_customer_email: 'The second charge was cancelled this morning. Please check first.',
  issue_refund: 'Already returned by the bank.',
};

/** Answers one question as the people of the local service would, so that a gate can be tried before it is trusted. */
export async function answerAs(
  answer: Answer,
  service: Service,
  request: ApprovalRequest,
  signal?: AbortSignal,
): Promise<void> {
  switch (answer) {
    case 'yes':
      for (const person of ['alice', 'bob']) {
        const after = await vote(service, person, request.requestId, 'approve', signal);
        if (after.status !== 'PENDING') return;
      }
      return;
    case 'no':
      await vote(service, 'alice', request.requestId, 'reject', signal);
      return;
    case 'silence':
      await letTimePass(service, request.requestId, signal);
  }
}

/** Reads, then votes on what was read. */
async function vote(
  service: Service,
  person: string,
  requestId: string,
  word: 'approve' | 'reject',
  signal?: AbortSignal,
) {
  const countersign = connect(service.apiUrl, tokenOf(service, person), signal);
  const read = await countersign.read(requestId);
  if (read.status !== 'PENDING') return read;
  const { effectiveDigest, actionName } = read;
  const note = word === 'reject' ? { note: notes[actionName] ?? 'No.' } : {};
  return countersign.decide(requestId, { decision: word, argsDigest: effectiveDigest, ...note });
}

/** Moves the local service's clock past each deadline in turn, and lets the sweep look, until the question is closed. */
async function letTimePass(
  { apiUrl, controlUrl, tokens }: Service,
  requestId: string,
  signal?: AbortSignal,
): Promise<void> {
  const countersign = connect(apiUrl, tokenOf({ tokens }, 'support-bot'), signal);
  try {
    for (;;) {
      const { status, deadline } = await countersign.read(requestId);
      if (status !== 'PENDING') return;
      const offsetSeconds = Math.ceil((Date.parse(deadline) - Date.now()) / 1000) + 1;
      await control(`${controlUrl}/clock`, 'PUT', { offsetSeconds });
      await control(`${controlUrl}/invoke/sweep`, 'POST', {});
      await pause(100, undefined, { signal });
    }
  } finally {
    await control(`${controlUrl}/clock`, 'PUT', { offsetSeconds: 0 });
  }
}

async function control(url: string, method: 'PUT' | 'POST', body: object): Promise<void> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${await response.text()}`);
}

export function tokenOf({ tokens }: Pick<Service, 'tokens'>, name: string): string {
  const token = tokens[name];
  if (token === undefined)
    throw new Error(`there is no token for ${name}; there are ${Object.keys(tokens).join(', ')}`);
  return token;
}

/** Who of the local people holds a role: their own tokens say so. */
export const namesOf =
  ({ tokens }: Pick<Service, 'tokens'>) =>
  (role: string): string[] =>
    Object.keys(tokens).filter((name) => {
      const payload = tokens[name]?.split('.')[1] ?? '';
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}') as Record<string, unknown>;
      const roles = claims['cognito:groups'];
      return Array.isArray(roles) && roles.includes(role);
    });
