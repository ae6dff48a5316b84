import { expect, test } from 'vitest';
import { connect } from '../../client/countersign.ts';
import { CountersignProblem } from '../../client/problem.ts';

interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: unknown;
}

type Answer = { status: number; body: unknown; headers?: Record<string, string> } | 'lost';

/** A service that answers these one after the other, and what it was sent. */
function serviceThatSays(...answers: Answer[]) {
  const sent: Sent[] = [];
  const send = async (
    url: string,
    { method, headers, body }: { method: string; headers: Record<string, string>; body?: string },
  ) => {
    sent.push({ url, method, headers, body: body === undefined ? undefined : JSON.parse(body) });
    const answer = answers.shift();
    if (answer === undefined) throw new Error('asked more often than there are answers');
    if (answer === 'lost') throw new TypeError('fetch failed');
    return new Response(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body), answer);
  };
  const client = connect({
    apiUrl: 'https://api.example/',
    token: 't',
    fetch: send as unknown as typeof fetch,
    retry: { tries: 4, milliseconds: 1 },
  });
  return { client, sent };
}

const question = { runId: 'r', actionName: 'mail', actionArgs: { to: 'ada' } };

test('lost answers, 429 and 5xx are tried again, every try with the same key', async () => {
  const { client, sent } = serviceThatSays(
    'lost',
    { status: 429, body: { code: 'TOO_MANY_REQUESTS', detail: 'later' }, headers: { 'retry-after': '0' } },
    { status: 503, body: 'upstream' },
    { status: 201, body: { requestId: 'q' } },
  );
  expect(await client.requests.create(question)).toEqual({ requestId: 'q' });
  expect(sent).toHaveLength(4);
  const keys = sent.map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(sent[0]).toMatchObject({
    url: 'https://api.example/v1/requests',
    method: 'POST',
    body: question,
    headers: { authorization: 'Bearer t' },
  });
});

test('a key of the caller, or the occurrence of the step, is the key; two calls without either are two questions', async () => {
  const { client, sent } = serviceThatSays(...Array.from({ length: 4 }, () => ({ status: 201, body: {} })));
  await client.requests.create(question, 'mine');
  await client.requests.create({ ...question, occurrenceId: 'step-7' });
  await client.requests.create(question);
  await client.requests.create(question);
  const [mine, occurrence, one, two] = sent.map(({ headers }) => headers['idempotency-key']);
  expect({ mine, occurrence }).toEqual({ mine: 'mine', occurrence: undefined });
  expect(one).not.toBe(two);
});

test('a claim whose answer was lost is asked again with its own claimId', async () => {
  const { client, sent } = serviceThatSays('lost', { status: 200, body: { claimId: 'c', effectiveArgs: {} } });
  await client.requests.claim('q', { actionName: 'mail', actionArgs: {} });
  const [first, second] = sent.map(({ body }) => (body as { claimId: string }).claimId);
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(second).toBe(first);
});

test('a refusal is thrown at once with its code, status, detail and the rest', async () => {
  const body = { code: 'ALREADY_DECIDED', detail: 'carol rejected it', decision: { word: 'reject' } };
  const { client, sent } = serviceThatSays({ status: 409, body });
  const error = await client.requests
    .decide('a/b', { decision: 'reject', note: 'no' })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CountersignProblem);
  expect(error).toMatchObject({
    code: 'ALREADY_DECIDED',
    status: 409,
    detail: 'carol rejected it',
    members: { decision: { word: 'reject' } },
  });
  expect(sent.map(({ url }) => url)).toEqual(['https://api.example/v1/requests/a%2Fb/decision']);
});

test('after the last try the last problem is thrown; without any answer it is UNREACHABLE', async () => {
  const down = serviceThatSays('lost', 'lost', 'lost', 'lost');
  await expect(down.client.runs.verification('r')).rejects.toMatchObject({ code: 'UNREACHABLE', status: 0 });
  expect(down.sent).toHaveLength(4);
  const broken = serviceThatSays(...Array.from({ length: 4 }, () => ({ status: 500, body: '<html>' })));
  await expect(broken.client.runs.verification('r')).rejects.toMatchObject({ code: 'HTTP_500', status: 500 });
});

test('an audit is read to its last page, a wait goes on until it is decided', async () => {
  const { client, sent } = serviceThatSays(
    { status: 200, body: { items: [{ sequence: 1 }], cursor: '1' } },
    { status: 200, body: { items: [{ sequence: 2 }] } },
    { status: 200, body: { status: 'PENDING' } },
    { status: 200, body: { status: 'APPROVED' } },
  );
  expect(await client.runs.audit('r')).toEqual([{ sequence: 1 }, { sequence: 2 }]);
  const seen: string[] = [];
  expect(await client.requests.wait('q', ({ status }) => seen.push(status))).toEqual({ status: 'APPROVED' });
  expect(seen).toEqual(['PENDING']);
  expect(sent.map(({ url }) => url.slice('https://api.example'.length))).toEqual([
    '/v1/runs/r/audit',
    '/v1/runs/r/audit?cursor=1',
    '/v1/requests/q?wait=20',
    '/v1/requests/q?wait=20',
  ]);
});
