import { afterAll, beforeAll, expect, test } from 'vitest';
import { proven } from './evidence.ts';
import { Front, newRun, refund } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start({ deployment: { policyFile: 'test/service/policies/rules.yaml' } });
});
afterAll(() => front?.stop());

const email = (to: string, runId: string) => ({ runId, actionName: 'send_customer_email', actionArgs: { to } });

test('a rule that stops: 201, verdict stop, REJECTED by policy, the rule on the request and in the audit', async () => {
  const runId = newRun();
  const asked = await front.ask(email('eve@competitor.example', runId));
  expect(asked).toMatchObject({
    status: 201,
    body: {
      verdict: 'stop',
      status: 'REJECTED',
      decision: { source: 'policy', decidedBy: [] },
      policy: { matched: [{ ruleId: 'no-competitor', effect: 'stop', reason: 'We do not write to competitors' }] },
    },
  });
  const [entry] = await proven(front, runId);
  expect(entry?.details.matched).toEqual([{ ruleId: 'no-competitor', effect: 'stop' }]);
});

test('a refund pauses at 500.01 and not at 500', async () => {
  const runId = newRun();
  expect((await front.ask(refund(500, { runId }))).body).toMatchObject({ verdict: 'allow', policy: { matched: [] } });
  expect((await front.ask(refund(500.01, { runId }))).body).toMatchObject({
    verdict: 'pause',
    approvals: [{ role: 'support_manager', count: 2 }],
    policy: { matched: [{ ruleId: 'large' }] },
  });
  await proven(front, runId);
});

test('case 19: arguments called action, status and args shadow nothing', async () => {
  const runId = newRun();
  const actionArgs = { amount: 501, action: { name: 'look_up' }, status: 'APPROVED', args: { amount: 1 } };
  const asked = await front.ask({ runId, actionName: 'issue_refund', actionArgs });
  expect(asked.body).toMatchObject({ verdict: 'pause', policy: { matched: [{ ruleId: 'large' }] } });
  await proven(front, runId);
});

test('case 20: an amount that is a text pauses, with the reason', async () => {
  const runId = newRun();
  const asked = await front.ask({ runId, actionName: 'issue_refund', actionArgs: { amount: '5000' } });
  expect(asked.body.verdict).toBe('pause');
  expect(asked.body.policy.matched).toEqual([
    { ruleId: 'large', effect: 'pause', reason: expect.stringContaining('could not be evaluated') },
  ]);
  await proven(front, runId);
});

test('case 13: an edit to another action, or to what a rule stops, is 422; one to more money raises the quorum', async () => {
  const runId = newRun();
  const { requestId, effectiveDigest: argsDigest } = (await front.ask(email('ann@customer.example', runId))).body;
  const edit = (more: object) => front.decide(requestId, 'alice', { decision: 'edit', argsDigest, ...more });
  const refused = { status: 422, body: { code: 'EDIT_NOT_ALLOWED' } };
  expect(await edit({ editedArgs: { to: 'b@c.example' }, actionName: 'look_up' })).toMatchObject(refused);
  expect(await edit({ editedArgs: { to: 'eve@competitor.example' } })).toMatchObject(refused);
  const raised = await edit({ editedArgs: { to: 'b@c.example', amount: 900 } });
  expect(raised.body).toMatchObject({ status: 'PENDING', policy: { matched: [{ ruleId: 'large' }] } });
  expect(raised.body.approvals).toContainEqual({ role: 'support_manager', count: 2 });
  await proven(front, runId);
});
