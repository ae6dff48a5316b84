import { afterAll, beforeAll, expect, test } from 'vitest';
import { email, Front, newRun, refund } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start({ deployment: { sweepMinutes: 60 } });
});
afterAll(() => front.stop());

/** What a browser of this person sends. */
function browse(who: string, path: string, form?: Record<string, string>): Promise<Response> {
  return fetch(front.urls.apiUrl + path, {
    redirect: 'manual',
    method: form ? 'POST' : 'GET',
    headers: {
      cookie: `__Host-countersign=${front.urls.tokens[who]}`,
      'sec-fetch-site': 'same-origin',
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(form && { body: new URLSearchParams(form) }),
  });
}

/** The fields of the form that holds this button, as the page fills them in. */
function fieldsOf(page: string, value: string): Record<string, string> {
  const form = page.split('<form').find((part) => part.includes(`value="${value}"`)) ?? '';
  const hidden = form.matchAll(/<input[^>]*type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g);
  return { ...Object.fromEntries([...hidden].map(([, name, filled]) => [name, filled])), decision: value };
}

test('two people decide on the pages of the deployed stack: from their lists to an approval, which one of them takes back', async () => {
  const { body: request } = await front.ask(refund(80, { runId: newRun() }));
  const path = `/r/${request.requestId}`;
  for (const who of ['alice', 'bob']) {
    expect(await (await browse(who, '/')).text()).toContain(path);
    const page = await (await browse(who, path)).text();
    const sent = await browse(who, `${path}/decision`, fieldsOf(page, 'approve'));
    expect([who, sent.status, sent.headers.get('location')]).toEqual([who, 303, path]);
  }
  expect((await front.get(request.requestId)).body).toMatchObject({
    status: 'APPROVED',
    decision: { decidedBy: ['alice', 'bob'] },
  });
  expect(await (await browse('alice', '/')).text()).not.toContain(path);
  expect((await browse('bob', `${path}/revocation`, { note: 'Wrong order' })).status).toBe(303);
  expect((await front.get(request.requestId)).body.status).toBe('REVOKED');
  expect((await front.verify(request.runId)).body).toMatchObject({ intact: true, entries: 4 });
});

test('an agent revises a request of its own and of nobody else, and takes it back', async () => {
  const runId = newRun();
  const { body: before } = await front.ask(email({ runId }));
  expect((await front.cancel(before.requestId)).body.status).toBe('CANCELLED');
  const { status, body } = await front.ask(email({ runId, revisionOf: before.requestId }));
  expect([status, body.revisionOf]).toEqual([201, before.requestId]);
  const foreign = await front.ask(email({ runId: newRun(), revisionOf: before.requestId }), { as: 'billing-bot' });
  expect([foreign.status, foreign.body.code]).toEqual([400, 'VALIDATION_FAILED']);
});

test('an edit on the page runs the rules of the published mission again, and moves what is held of a window', async () => {
  const yaml = `
mission: seat
defaults: { approverRole: support_manager }
windows: [{ id: paid, by: run, value: /amount, over: 24h }]
actions:
  pay: { policy: approval_gate, reason: Money leaves }
rules: [{ id: enough, when: 'window.paid.sum + args.amount > 100.0', then: stop }]
`;
  expect((await front.call('PUT', '/v1/policies/seat', { as: 'erin' }, { yaml })).status).toBe(200);
  const runId = newRun();
  const ask = (amount: number) => front.ask({ runId, missionId: 'seat', actionName: 'pay', actionArgs: { amount } });
  const { body: request } = await ask(90);
  const path = `/r/${request.requestId}`;
  const fields = fieldsOf(await (await browse('alice', path)).text(), 'edit');
  const tooMuch = await browse('alice', `${path}/decision`, { ...fields, editedArgs: '{"amount":101}' });
  expect(tooMuch.status).toBe(422);
  const sent = await browse('alice', `${path}/decision`, { ...fields, editedArgs: '{"amount":40}' });
  expect([sent.status, sent.headers.get('location')]).toEqual([303, path]);
  expect((await front.get(request.requestId)).body).toMatchObject({
    status: 'APPROVED',
    effectiveArgs: { amount: 40 },
  });
  expect((await ask(60.01)).body.verdict).toBe('stop');
  expect((await ask(60)).body.verdict).toBe('pause');
  expect((await front.verify(runId)).body).toMatchObject({ intact: true });
});
