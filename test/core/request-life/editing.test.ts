import { describe, expect, test } from 'vitest';
import { actionContent } from '../../../core/action.ts';
import { countingApprovals } from '../../../core/quorum.ts';
import { bot, Desk, people, refusal } from './desk.ts';

const { alice, bob, carol, dan } = people;
const first = { to: 'ann@example.org' };
const second = { to: 'bea@example.org' };

async function refund() {
  const desk = new Desk();
  return { desk, requestId: (await desk.ask('refund', { actionArgs: first })).state.requestId };
}

describe('edit', () => {
  test('CASE 14: given a field set to null, removed, or left, then three different digests', () => {
    const digest = (actionArgs: { a: number; b?: null }) =>
      actionContent({ actionName: 'send', actionArgs, phase: 'before' }).digest;
    const absent: { a: number; b?: null } = { a: 1 };
    expect(new Set([digest({ a: 1, b: null }), digest(absent), digest({ a: 0, b: null })]).size).toBe(3);
  });

  test('CASE 14: given an edit from null to nothing, then it is an edit; given one that changes nothing, then VALIDATION_FAILED', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send', { actionArgs: { a: 1, b: null } })).state;
    await refusal(desk.vote(requestId, alice, 'edit', { editedArgs: { b: null, a: 1 } }), 'VALIDATION_FAILED');
    expect((await desk.vote(requestId, alice, 'edit', { editedArgs: { a: 1 } })).status).toBe('APPROVED');
    expect((await desk.claim(requestId, { actionArgs: { a: 1 } })).effectiveArgs).toEqual({ a: 1 });
  });

  test('CASE 15: given one vote that is needed, then the edit is that vote', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    const edited = await desk.vote(requestId, alice, 'edit', { editedArgs: second });
    expect(edited).toMatchObject({ status: 'APPROVED', decision: { word: 'edit', decidedBy: ['alice'] } });
    expect(await desk.vote(requestId, alice, 'edit', { editedArgs: second, argsDigest: edited.argsDigest })).toEqual(
      edited,
    );
  });

  test('given two votes that are needed, then an edit voids those given, its editor is out, and two others decide', async () => {
    const { desk, requestId } = await refund();
    await desk.vote(requestId, bob, 'approve');
    const edited = await desk.vote(requestId, alice, 'edit', { editedArgs: second });
    expect(edited).toMatchObject({ status: 'PENDING', editors: ['alice'] });
    expect(countingApprovals(edited)).toEqual([]);
    await refusal(desk.vote(requestId, alice, 'approve'), 'SELF_APPROVAL');
    expect((await desk.vote(requestId, bob, 'approve')).status).toBe('PENDING');
    const decided = await desk.vote(requestId, dan, 'approve');
    expect(decided).toMatchObject({ status: 'APPROVED', decision: { decidedBy: ['bob', 'dan'] } });
    await refusal(desk.claim(requestId), 'DIGEST_MISMATCH');
  });

  test('given an editor, then they may still reject', async () => {
    const { desk, requestId } = await refund();
    await desk.vote(requestId, alice, 'edit', { editedArgs: second });
    expect((await desk.vote(requestId, alice, 'reject')).status).toBe('REJECTED');
  });

  test('given an edit back to what it was, then votes that the first edit voided stay void and may be given anew', async () => {
    const { desk, requestId } = await refund();
    await desk.vote(requestId, bob, 'approve');
    await desk.vote(requestId, alice, 'edit', { editedArgs: second });
    const back = await desk.vote(requestId, alice, 'edit', { editedArgs: first });
    expect(back.effectiveDigest).toBe(back.argsDigest);
    expect(countingApprovals(back)).toEqual([]);
    expect((await desk.vote(requestId, dan, 'approve')).status).toBe('PENDING');
    expect((await desk.vote(requestId, bob, 'approve')).status).toBe('APPROVED');
  });

  test('given an edit after an escalation, then all roles are asked again, with alerts of their own', async () => {
    const { desk, requestId } = await refund();
    await desk.vote(requestId, bob, 'approve');
    desk.world.pass(7200);
    await desk.sweep();
    expect((await desk.state(requestId)).asked).toEqual(['senior_manager']);
    const edited = await desk.vote(requestId, carol, 'edit', { editedArgs: second });
    expect(edited.asked).toEqual(['support_manager', 'senior_manager']);
    expect(edited.approvals).toEqual([
      { role: 'support_manager', count: 1 },
      { role: 'senior_manager', count: 1 },
    ]);
    expect(Object.keys(edited.owed)).toEqual(['escalated-1-support_manager-edit1', 'escalated-1-senior_manager-edit1']);
  });

  test('given an edit before the first alert left, then the roles are alerted once, not twice', async () => {
    const { desk, requestId } = await refund();
    const edited = await desk.vote(requestId, alice, 'edit', { editedArgs: second });
    expect(Object.keys(edited.owed)).toEqual(['asked-0-support_manager-edit1']);
  });

  test('given a step that has already run, then EDIT_NOT_ALLOWED; given one that is decided, then that is the answer', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send', { phase: 'after', actionResult: 1 })).state;
    await refusal(desk.vote(requestId, alice, 'edit', { editedArgs: second }), 'EDIT_NOT_ALLOWED');
    await refusal(desk.vote(requestId, bob, 'edit', { editedArgs: second }), 'NOT_AN_APPROVER');
    await desk.vote(requestId, alice, 'reject');
    await refusal(desk.vote(requestId, { ...alice, id: 'anna' }, 'edit', { editedArgs: second }), 'ALREADY_DECIDED');
  });

  test('given twenty edits, then the twenty-first is EDIT_NOT_ALLOWED and the twentieth may be repeated', async () => {
    const { desk, requestId } = await refund();
    for (let n = 1; n <= 20; n++) await desk.vote(requestId, alice, 'edit', { editedArgs: { n } });
    await refusal(desk.vote(requestId, alice, 'edit', { editedArgs: { n: 21 } }), 'EDIT_NOT_ALLOWED');
    expect((await desk.vote(requestId, alice, 'edit', { editedArgs: { n: 20 } })).votes).toHaveLength(20);
  });

  test('given an editor who saw a masked secret, then it is put back; a secret that was replaced stays replaced', async () => {
    const desk = new Desk();
    const card = (number: string) => ({ amount: 5, card: { number } });
    const { requestId } = (await desk.ask('refund', { actionArgs: card('4111111111111111') })).state;
    const mask = '[hidden by policy, 16 characters]';
    const kept = await desk.vote(requestId, alice, 'edit', { editedArgs: { ...card(mask), amount: 4 } });
    const args = async (digest: string) =>
      JSON.parse((await desk.read(requestId)).contents.get(digest) ?? '').actionArgs;
    expect(await args(kept.effectiveDigest)).toEqual({ ...card('4111111111111111'), amount: 4 });
    const replaced = await desk.vote(requestId, bob, 'edit', { editedArgs: card('0') });
    expect(await args(replaced.effectiveDigest)).toEqual(card('0'));
    expect(replaced.requestedBy).toBe(bot.id);
  });
});
