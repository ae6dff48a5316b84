import { afterAll, beforeAll, expect, test } from 'vitest';
import { codesOf, times } from './answers.ts';
import { proven } from './evidence.ts';
import { type Answer, email, Front, newRun } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start();
});
afterAll(() => front?.stop());

const asked = async (body: object) => (await front.ask(body)).body;

test('case 8: ten requests of a run, answered in reverse order: each answer belongs to its request', async () => {
  const runId = newRun();
  const requests: Answer['body'][] = [];
  for (const amount of times(10, (index) => index))
    requests.push(await asked(email({ runId, actionArgs: { amount } })));

  for (const [index, request] of [...requests.entries()].reverse())
    await (index % 2 ? front.approve(request, 'alice') : front.reject(request.requestId, 'alice', `not ${index}`));

  for (const [index, { requestId, argsDigest }] of requests.entries())
    expect((await front.get(requestId)).body).toMatchObject({
      requestId,
      argsDigest,
      actionArgs: { amount: index },
      status: index % 2 ? 'APPROVED' : 'REJECTED',
      decision: index % 2 ? { word: 'approve' } : { word: 'reject', note: `not ${index}` },
    });
  await proven(front, runId, ...requests.map(({ requestId }) => requestId));
});

test('case 9: eight identical agents wait and claim: one gets it, and the winner may ask again', async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));
  const { requestId } = request;
  const agents = times(8, async (index) => {
    expect((await front.get(requestId, 'support-bot', '?wait=20')).body.verdict).toBe('allow');
    return front.claim(requestId, { ...email(), claimId: `worker-${index}` });
  });
  await front.approve(request, 'alice');

  const answers = await Promise.all(agents);

  const winner = answers.findIndex(({ status }) => status === 200);
  expect(codesOf(answers)).toEqual(times(8, (index) => (index === winner ? 200 : 'ALREADY_CLAIMED')));
  const again = await front.claim(requestId, { ...email(), claimId: `worker-${winner}` });
  expect([again.status, again.body]).toEqual([200, answers[winner]?.body]);
  expect(again.body).toEqual({ claimId: `worker-${winner}`, effectiveArgs: email().actionArgs });
  expect(codesOf([await front.claim(requestId, email())])).toEqual(['ALREADY_CLAIMED']);
  const entries = await proven(front, runId, requestId);
  expect(entries.filter(({ type }) => type === 'approval_claimed')).toHaveLength(1);
});

test('case 10: what was claimed can no longer be rejected or revoked', async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));
  await front.approve(request, 'alice');
  await front.claim(request.requestId, email());

  const answers = [
    await front.reject(request.requestId, 'frank'),
    await front.reject(request.requestId, 'alice'),
    await front.revoke(request.requestId, 'alice'),
  ];

  expect(answers.map(({ status }) => status)).toEqual([409, 409, 409]);
  expect(codesOf(answers)).toEqual(['ALREADY_DECIDED', 'VOTE_CONFLICT', 'ALREADY_CLAIMED']);
  expect((await proven(front, runId, request.requestId)).at(-1)?.type).toBe('approval_claimed');
});

test('case 10: before the claim a revocation works and is its own kind of entry', async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));
  await front.approve(request, 'alice');

  const revoked = await front.revoke(request.requestId, 'frank', 'wrong customer');

  expect(revoked).toMatchObject({
    status: 200,
    body: {
      status: 'REVOKED',
      verdict: 'stop',
      decision: { word: 'revoke', decidedBy: ['frank'], note: 'wrong customer' },
    },
  });
  expect(codesOf([await front.claim(request.requestId, email())])).toEqual(['NOT_APPROVED']);
  expect((await proven(front, runId, request.requestId)).at(-1)).toMatchObject({
    type: 'approval_revoked',
    actor: { kind: 'person', id: 'frank' },
  });
});
