import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { countingApprovals } from '../../../core/quorum.ts';
import { Desk, people, refusal } from './desk.ts';

const { alice, bob, dan } = people;
const policy = readFileSync(new URL('../../service/policies/rules.yaml', import.meta.url), 'utf8');

let desk: Desk;
const begin = async (actionName: string, actionArgs: Record<string, string | number>) => {
  desk = new Desk({ policy });
  return (await desk.ask(actionName, { actionArgs })).state;
};
afterEach(async () => expect(await desk.verify()).toMatchObject({ intact: true }));

test('CASE 13: given an edit that names another action, then EDIT_NOT_ALLOWED and nothing changed', async () => {
  const { requestId, version } = await begin('send_customer_email', { to: 'a@b.example' });
  const edit = { editedArgs: { to: 'c@b.example' }, actionName: 'look_up' };
  await refusal(desk.vote(requestId, alice, 'edit', edit), 'EDIT_NOT_ALLOWED');
  expect(await desk.state(requestId)).toMatchObject({ status: 'PENDING', version });
});

test('CASE 13: given edited arguments that a rule stops, then EDIT_NOT_ALLOWED with the rule', async () => {
  const { requestId } = await begin('send_customer_email', { to: 'a@b.example' });
  const edit = { editedArgs: { to: 'eve@competitor.example' } };
  const error = await refusal(desk.vote(requestId, alice, 'edit', edit), 'EDIT_NOT_ALLOWED');
  expect(error.message).toContain('no-competitor (We do not write to competitors)');
});

test('CASE 13: given edited arguments that need more votes, then the quorum is raised, the rule named, earlier votes void', async () => {
  const { requestId } = await begin('issue_refund', { amount: 501 });
  await desk.vote(requestId, bob, 'approve');
  const edited = await desk.vote(requestId, alice, 'edit', { editedArgs: { amount: 900 } });
  expect(edited).toMatchObject({ status: 'PENDING', approvals: [{ role: 'support_manager', count: 2 }] });
  expect(countingApprovals(edited)).toEqual([]);
  await desk.vote(requestId, bob, 'approve');
  expect((await desk.vote(requestId, dan, 'approve')).status).toBe('APPROVED');
});

test('CASE 13: given a gate for one and an edit to what needs two more, then one editor is not enough', async () => {
  const { requestId } = await begin('send_customer_email', { to: 'a@b.example' });
  const edited = await desk.vote(requestId, alice, 'edit', { editedArgs: { to: 'a@b.example', amount: 900 } });
  expect(edited.status).toBe('PENDING');
  expect(edited.approvals).toContainEqual({ role: 'support_manager', count: 2 });
  expect(edited.policy.matched).toMatchObject([{ ruleId: 'large', effect: 'pause' }]);
});

test('CASE 13: given an edit to what needs less, then no vote less is needed', async () => {
  const { requestId } = await begin('issue_refund', { amount: 900 });
  const edited = await desk.vote(requestId, alice, 'edit', { editedArgs: { amount: 1 } });
  expect(edited).toMatchObject({ status: 'PENDING', approvals: [{ role: 'support_manager', count: 2 }] });
});

test('CASE 20: given edited arguments that a rule cannot read, then it pauses and says so', async () => {
  const { requestId } = await begin('issue_refund', { amount: 900 });
  const edited = await desk.vote(requestId, alice, 'edit', { editedArgs: { amount: '1' } });
  expect(edited.status).toBe('PENDING');
  expect(edited.policy.matched[0]?.reason).toContain('could not be evaluated');
});
