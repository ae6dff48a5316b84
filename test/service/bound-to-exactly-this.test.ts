import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actionContent } from '../../core/action.ts';
import type { JsonObject } from '../../core/json.ts';
import { codeOf, codesOf } from './answers.ts';
import { proven } from './evidence.ts';
import { email, Front, newRun, refund } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start();
});
afterAll(() => front?.stop());

const asked = async (body: object) => (await front.ask(body)).body;
const edit = (request: { requestId: string; effectiveDigest: string }, as: string, editedArgs: object) =>
  front.decide(request.requestId, as, { decision: 'edit', argsDigest: request.effectiveDigest, editedArgs });
const digestOf = (actionName: string, actionArgs: JsonObject) =>
  actionContent({ actionName, actionArgs, phase: 'before' }).digest;

describe('case 11: an approval is for these arguments and no others', () => {
  const changes: [string, object][] = [
    ['a value', { actionArgs: { ...email().actionArgs, to: 'eve@evil.example' } }],
    ['an argument more', { actionArgs: { ...email().actionArgs, bcc: null } }],
    ['an argument less', { actionArgs: { to: email().actionArgs.to, subject: email().actionArgs.subject } }],
    ['the name', { actionName: 'issue_refund' }],
    ['the phase', { phase: 'after' }],
    ['the agent that acts', { sourceAgent: 'another' }],
    ['the agent that is called', { targetAgent: 'another' }],
  ];

  test.each(changes)('case 11: a claim that differs in %s is refused and uses nothing up', async (_, change) => {
    const runId = newRun();
    const request = await asked(email({ runId }));
    await front.approve(request, 'alice');

    const claim = await front.claim(request.requestId, { ...email(), ...change });

    expect(claim).toMatchObject({
      status: 409,
      body: { code: 'DIGEST_MISMATCH', effectiveDigest: request.argsDigest, effectiveArgs: email().actionArgs },
    });
    expect((await front.get(request.requestId)).body).toMatchObject({ status: 'APPROVED', verdict: 'allow' });
    expect((await front.get(request.requestId)).body.claim).toBeUndefined();
    expect(codeOf(await front.claim(request.requestId, email()))).toBe(200);
    await proven(front, runId, request.requestId);
  });

  test('case 11: another order of the same keys is the same digest', async () => {
    const nested = { z: 1, a: { y: [2, { k: 3, b: 4 }], b: 'two' } };
    const reordered = { a: { b: 'two', y: [2, { b: 4, k: 3 }] }, z: 1 };
    const one = await asked({ runId: newRun(), actionName: 'send_customer_email', actionArgs: nested });
    const other = await asked({ runId: newRun(), actionName: 'send_customer_email', actionArgs: reordered });
    expect(other.argsDigest).toBe(one.argsDigest);
    await front.approve(one, 'alice');

    const claim = await front.claim(one.requestId, { actionArgs: reordered, actionName: 'send_customer_email' });

    expect(claim).toMatchObject({ status: 200, body: { effectiveArgs: nested } });
  });
});

test('case 12: an approver who saw other arguments than those that would run now is refused, with what stands', async () => {
  const runId = newRun();
  const before = await asked(refund(250, { runId }));
  const edited = await edit(before, 'alice', { ...before.actionArgs, amount: 200 });
  expect(edited.body).toMatchObject({ status: 'PENDING', effectiveArgs: { amount: 200 } });

  const vote = await front.approve(before, 'bob');

  const { effectiveDigest } = edited.body;
  expect(effectiveDigest).not.toBe(before.effectiveDigest);
  expect(vote).toMatchObject({ status: 409, body: { code: 'DIGEST_MISMATCH', effectiveDigest } });
  expect((await front.get(before.requestId)).body.votes).toMatchObject([{ approver: 'alice', word: 'edit' }]);
  expect((await front.approve(edited.body, 'bob')).body.votes).toHaveLength(2);
  await proven(front, runId);
});

test('case 12: a digest of nothing that ever stood there is refused, also for an edit and a response', async () => {
  const { requestId } = await asked(email({ runId: newRun() }));
  const argsDigest = `sha256:${'0'.repeat(64)}`;
  const answers = await Promise.all([
    front.decide(requestId, 'alice', { decision: 'approve', argsDigest }),
    front.decide(requestId, 'alice', { decision: 'edit', argsDigest, editedArgs: {} }),
    front.decide(requestId, 'alice', { decision: 'respond', argsDigest, response: 1 }),
    front.decide(requestId, 'alice', { decision: 'reject', argsDigest, note: 'no' }),
  ]);
  expect(codesOf(answers)).toEqual(Array(4).fill('DIGEST_MISMATCH'));
  expect((await front.get(requestId)).body).toMatchObject({ status: 'PENDING', votes: [] });
});

test('case 14: a field set to null and a field removed are different arguments, and both are shown as they are', async () => {
  const [one, other] = [await asked(email({ runId: newRun() })), await asked(email({ runId: newRun() }))];
  const { subject: _, ...withoutSubject } = one.actionArgs;

  const nulled = (await edit(one, 'alice', { ...one.actionArgs, subject: null })).body;
  const removed = (await edit(other, 'alice', withoutSubject)).body;

  expect(nulled.effectiveDigest).not.toBe(removed.effectiveDigest);
  expect(nulled.effectiveArgs).toEqual({ ...one.actionArgs, subject: null });
  expect(removed.effectiveArgs).toEqual(withoutSubject);
  expect('subject' in removed.effectiveArgs).toBe(false);
  const crossed = await front.claim(one.requestId, { ...email(), actionArgs: withoutSubject });
  expect(codeOf(crossed)).toBe('DIGEST_MISMATCH');
  expect(codeOf(await front.claim(other.requestId, { ...email(), actionArgs: withoutSubject }))).toBe(200);
});

test('case 15: what was approved with an edit is claimed as edited; the original is refused and told what was approved', async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));
  const editedArgs = { ...email().actionArgs, subject: 'Your refund of 20 EUR' };
  const effectiveDigest = digestOf('send_customer_email', editedArgs);

  const approved = await edit(request, 'alice', editedArgs);

  expect(approved.body).toMatchObject({
    status: 'APPROVED',
    actionArgs: email().actionArgs,
    argsDigest: request.argsDigest,
    effectiveArgs: editedArgs,
    effectiveDigest,
    decision: { word: 'edit', decidedBy: ['alice'], editedArgs },
  });
  const original = await front.claim(request.requestId, email());
  expect(original).toMatchObject({
    status: 409,
    body: { code: 'DIGEST_MISMATCH', effectiveArgs: editedArgs, effectiveDigest },
  });
  const claim = await front.claim(request.requestId, { ...email(), actionArgs: editedArgs });
  expect(claim).toMatchObject({ status: 200, body: { effectiveArgs: editedArgs } });
  await proven(front, runId, request.requestId);
});

test.each([[''], [0], [false], [null], [[]], [{}], ['0']])(
  'case 16: the response %j arrives verbatim',
  async (response) => {
    const { requestId, effectiveDigest: argsDigest } = await asked(email({ runId: newRun() }));

    const answer = await front.decide(requestId, 'alice', { decision: 'respond', argsDigest, response });

    expect(answer.status).toBe(200);
    const request = (await front.get(requestId)).body;
    expect(request).toMatchObject({ status: 'RESPONDED', verdict: 'stop', decision: { word: 'respond' } });
    expect(request.decision.response).toStrictEqual(response);
    expect((await front.decide(requestId, 'alice', { decision: 'respond', argsDigest, response })).status).toBe(200);
    const other = await front.decide(requestId, 'alice', { decision: 'respond', argsDigest, response: 'other' });
    expect(codeOf(other)).toBe('VOTE_CONFLICT');
  },
);

test('case 16: a response that is not there at all is refused', async () => {
  const { requestId, effectiveDigest: argsDigest } = await asked(email({ runId: newRun() }));
  const answer = await front.decide(requestId, 'alice', { decision: 'respond', argsDigest });
  expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  expect(answer.body.detail).toContain('/response');
});

test('case 16: empty values as arguments, in what was done, and as a result arrive verbatim', async () => {
  const actionArgs = {
    empty: '',
    zero: 0,
    no: false,
    nothing: null,
    list: [],
    object: {},
    '': 'a key of no characters',
  };
  const request = await asked(email({ runId: newRun(), actionArgs, actionResult: null, phase: 'after' }));
  expect(request.actionArgs).toStrictEqual(actionArgs);
  expect(request.effectiveArgs).toStrictEqual(actionArgs);
  expect(request.actionResult).toBeNull();
  expect(request.argsDigest).toBe(
    actionContent({ actionName: 'send_customer_email', actionArgs, phase: 'after' }).digest,
  );

  await front.approve(request, 'alice');
  const { body } = await front.claim(request.requestId, { ...email(), actionArgs, phase: 'after' });
  expect(body.effectiveArgs).toStrictEqual(actionArgs);
  const reported = await front.outcome(request.requestId, {
    claimId: body.claimId,
    outcome: 'succeeded',
    result: false,
  });
  expect(reported.body).toMatchObject({ outcome: 'succeeded', result: false });
});
