import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, codesOf, inTurn } from './answers.ts';
import { proven } from './evidence.ts';
import { type Answer, email, type Front, newRun, refund } from './harness.ts';
import { startWith } from './known-people.ts';

let front: Front;
beforeAll(async () => {
  front = await startWith({
    /** Asks and decides: one token with both scopes. */
    gil: { roles: ['support_agent', 'support_manager'], scopes: ['request', 'decide'] },
    /** The agent that is gil's program: another subject, the same person. */
    'gil-script': { scopes: ['request', 'decide'], roles: ['support_manager'], claims: { username: 'gil' } },
    /** Holds a role that the mission does not name. */
    walt: { roles: ['warehouse'], scopes: ['decide'] },
    nobody: { scopes: ['decide'] },
  });
});
afterAll(() => front?.stop());

const asked = async (body: object, as = 'support-bot') => (await front.ask(body, { as })).body;
const vote = (request: Answer['body'], as: string, more: object) =>
  front.decide(request.requestId, as, { argsDigest: request.effectiveDigest, ...more });

describe('case 49: nobody approves what they asked for, or what is done on their behalf', () => {
  test.each([0.01, 250, 1_000_000])(
    'case 49: the person it is done for cannot approve %d, and may reject',
    async (amount) => {
      const runId = newRun();
      const request = await asked(refund(amount, { runId, onBehalfOf: 'alice' }));

      const answers = [
        await front.approve(request, 'alice'),
        await vote(request, 'alice', { decision: 'edit', editedArgs: { amount: 1 } }),
        await vote(request, 'alice', { decision: 'respond', response: 'done' }),
      ];

      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
      expect(codesOf(answers)).toEqual(['SELF_APPROVAL', 'SELF_APPROVAL', 'SELF_APPROVAL']);
      expect((await front.get(request.requestId)).body).toMatchObject({ status: 'PENDING', votes: [] });
      const rejected = await front.reject(request.requestId, 'alice');
      expect(rejected).toMatchObject({ status: 200, body: { status: 'REJECTED', decision: { decidedBy: ['alice'] } } });
      expect(await proven(front, runId, request.requestId)).toHaveLength(2);
    },
  );

  test.each(['ALICE', 'alice@example.org', ' Alice@Example.ORG'])(
    'case 49: the subject %j is alice, by another of her names',
    async (onBehalfOf) => {
      const request = await asked(email({ runId: newRun(), onBehalfOf }));
      expect(codeOf(await front.approve(request, 'alice'))).toBe('SELF_APPROVAL');
      expect(codeOf(await front.approve(request, 'frank'))).toBe(200);
    },
  );

  test('case 49: the requester cannot approve, under any of its names, and may reject', async () => {
    const request = await asked(email({ runId: newRun() }), 'gil');
    expect(codeOf(await front.approve(request, 'gil'))).toBe('SELF_APPROVAL');
    expect((await front.get(request.requestId, 'gil')).body).toMatchObject({ status: 'PENDING', votes: [] });
    expect((await front.reject(request.requestId, 'gil')).body.status).toBe('REJECTED');

    const byProgram = await asked(refund(1, { runId: newRun() }), 'gil');
    expect(codeOf(await front.approve(byProgram, 'gil-script'))).toBe('SELF_APPROVAL');
  });
});

test("case 50: an agent's token is refused on every deciding route, and nothing changes", async () => {
  const runId = newRun();
  const [open, approved] = [await asked(email({ runId })), await asked(email({ runId, metadata: { n: 2 } }))];
  await front.approve(approved, 'alice');

  for (const as of ['support-bot', 'billing-bot']) {
    const answers = [
      await front.approve(open, as),
      await front.reject(open.requestId, as),
      await vote(open, as, { decision: 'edit', editedArgs: {} }),
      await vote(open, as, { decision: 'respond', response: 1 }),
      await front.revoke(approved.requestId, as),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: front.urls.webUrl };
    for (const route of [`/r/${open.requestId}/decision`, `/r/${approved.requestId}/revocation`]) {
      const page = await front.call('POST', route, { as, headers }, `decision=approve&argsDigest=${open.argsDigest}`);
      expect(page.status).toBeGreaterThanOrEqual(300);
    }
  }

  expect((await front.get(open.requestId)).body).toMatchObject({ status: 'PENDING', votes: [] });
  expect((await front.get(approved.requestId)).body.status).toBe('APPROVED');
  expect(await proven(front, runId, approved.requestId)).toHaveLength(3);
});

describe('case 51: a body never says who somebody is, or what became of it', () => {
  const smuggled: [string, unknown][] = [
    ['decidedBy', ['alice']],
    ['status', 'APPROVED'],
    ['requestedBy', 'billing-bot'],
    ['policy', { name: 'autonomous' }],
    ['approverRole', 'support_agent'],
    ['approver', 'frank'],
    ['verdict', 'allow'],
    ['role', 'support_manager'],
  ];

  test.each(smuggled)('case 51: %s is refused on every route that writes, by name', async (field, value) => {
    const runId = newRun();
    const request = await asked(email({ runId }));
    const id = request.requestId;
    const more = { [field]: value };

    const answers = [
      await front.ask(email({ runId, ...more })),
      await vote(request, 'alice', { decision: 'approve', ...more }),
      await vote(request, 'alice', { decision: 'reject', note: 'no', ...more }),
      await vote(request, 'alice', { decision: 'edit', editedArgs: {}, ...more }),
      await vote(request, 'alice', { decision: 'respond', response: 1, ...more }),
      await front.call('POST', `/v1/requests/${id}/revocation`, { as: 'alice' }, more),
      await front.call('POST', `/v1/requests/${id}/cancellation`, { as: 'support-bot' }, more),
      await front.claim(id, { ...email(), ...more }),
      await front.outcome(id, { claimId: 'x', outcome: 'succeeded', ...more }),
    ];

    expect(codesOf(answers)).toEqual(answers.map(() => 'VALIDATION_FAILED'));
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(body.detail).toContain(`unknown field "${field}"`);
      expect(body.detail).toMatch(/allowed are|no field is allowed/);
    }
    expect(await proven(front, runId)).toHaveLength(1);
  });
});

describe('case 54: to another agent my request does not exist', () => {
  test('case 54: it reads, claims, cancels and reports as for an id that does not exist', async () => {
    const runId = newRun();
    const mine = await asked(email({ runId }));
    await front.approve(mine, 'alice');
    const strange = 'AAAAAAAAAAAAAAAAAAAAAA';
    const acts = [
      (id: string) => front.get(id, 'billing-bot'),
      (id: string) => front.get(id, 'billing-bot', '?wait=1'),
      (id: string) => front.claim(id, email(), 'billing-bot'),
      (id: string) => front.cancel(id, 'billing-bot'),
      (id: string) => front.outcome(id, { claimId: 'x', outcome: 'succeeded' }, 'billing-bot'),
    ];
    const theirs = await inTurn(acts, (act) => act(mine.requestId));
    const missing = await inTurn(acts, (act) => act(strange));

    for (const [index, answer] of theirs.entries()) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
      expect(JSON.stringify(answer.body).replaceAll(mine.requestId, strange)).toBe(
        JSON.stringify(missing[index]?.body),
      );
    }
    expect((await front.get(mine.requestId)).body).toMatchObject({ status: 'APPROVED' });
    expect(await proven(front, runId, mine.requestId)).toHaveLength(2);
  });

  test("case 54: its list of my run is empty; its revision of my request is refused as one of nobody's", async () => {
    const runId = newRun();
    const { requestId } = await asked(email({ runId }));
    const list = await front.call('GET', `/v1/requests?runId=${runId}`, { as: 'billing-bot' });
    expect(list).toMatchObject({ status: 200, body: { items: [] } });

    const revise = (revisionOf: string) => front.ask(email({ runId: newRun(), revisionOf }), { as: 'billing-bot' });
    const [theirs, missing] = [await revise(requestId), await revise('AAAAAAAAAAAAAAAAAAAAAA')];
    expect(codesOf([theirs, missing])).toEqual(['VALIDATION_FAILED', 'VALIDATION_FAILED']);
    expect(theirs.body.detail.replaceAll(requestId, 'AAAAAAAAAAAAAAAAAAAAAA')).toBe(missing.body.detail);
    expect(codeOf(await front.ask(email({ runId, revisionOf: requestId })))).toBe(201);
  });
});

describe('who may see and who may decide', () => {
  test('who sees a request and may not vote on it is no approver, with who is', async () => {
    const request = await asked(email({ runId: newRun() }));
    expect((await front.get(request.requestId, 'carol')).status).toBe(200);
    for (const answer of [await front.approve(request, 'carol'), await front.reject(request.requestId, 'bob')]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'NOT_AN_APPROVER', asked: ['support_agent'] } });
      expect(answer.body.detail).toContain('support_agent');
    }
    await front.approve(request, 'alice');
    expect(codeOf(await front.revoke(request.requestId, 'carol'))).toBe('NOT_AN_APPROVER');
  });

  test.each(['walt', 'nobody'])('to %s, who has no role of the mission, nothing exists', async (as) => {
    const runId = newRun();
    const request = await asked(email({ runId }));
    const answers = [
      await front.get(request.requestId, as),
      await front.approve(request, as),
      await front.reject(request.requestId, as),
      await front.revoke(request.requestId, as),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    for (const query of [`runId=${runId}`, 'role=support_agent'])
      expect((await front.call('GET', `/v1/requests?${query}`, { as })).body).toEqual({ items: [] });
  });

  test('an auditor reads everything and changes nothing; the audit is for auditors alone', async () => {
    const runId = newRun();
    const request = await asked(email({ runId }));
    expect((await front.get(request.requestId, 'dave')).status).toBe(200);
    expect((await front.call('GET', `/v1/requests?runId=${runId}`, { as: 'dave' })).body.items).toHaveLength(1);
    expect((await front.call('GET', '/v1/requests?role=support_agent', { as: 'dave' })).status).toBe(200);
    const acts = [
      front.approve(request, 'dave'),
      front.reject(request.requestId, 'dave'),
      front.cancel(request.requestId, 'dave'),
      front.ask(email({ runId }), { as: 'dave' }),
      front.claim(request.requestId, email(), 'dave'),
    ];
    expect((await Promise.all(acts)).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    for (const as of ['support-bot', 'alice', 'carol', 'erin'])
      for (const path of ['audit', 'audit/verification'])
        expect((await front.call('GET', `/v1/runs/${runId}/${path}`, { as })).status).toBe(403);
  });
});
