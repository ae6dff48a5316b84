import { describe, expect, test } from 'vitest';
import { actionContent } from '../../../core/action.ts';
import { claim } from '../../../core/claim.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { StoredRequest } from '../../../core/ports.ts';
import { bot, Desk, otherBot, people, refusal } from './desk.ts';

const { alice, bob } = people;

async function approved(actionArgs = { amount: 5, to: 'ann' }) {
  const desk = new Desk();
  const { requestId } = (await desk.ask('send', { actionArgs })).state;
  await desk.vote(requestId, alice, 'approve');
  return { desk, requestId };
}

describe('claim', () => {
  test('CASE 9: given eight identical waiting agents, when all claim, then one claim, and its claimId gets the same answer again', async () => {
    const { desk, requestId } = await approved();
    const claims = Array.from({ length: 8 }, (_, index) => desk.claim(requestId, { claimId: `worker-${index}` }));
    const results = await Promise.allSettled(claims);
    const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(won).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'ALREADY_CLAIMED' });
    expect(await desk.claim(requestId, { claimId: won[0]?.claimId ?? '' })).toEqual(won[0]);
    expect(await desk.audit(requestId)).toEqual(['request_created', 'request_approved', 'approval_claimed']);
  });

  test('given a claim without a claimId, when it comes again, then ALREADY_CLAIMED; the claim holds after claimBy', async () => {
    const { desk, requestId } = await approved();
    const { claimId } = await desk.claim(requestId);
    await refusal(desk.claim(requestId), 'ALREADY_CLAIMED');
    desk.world.pass(100_000);
    await desk.sweep();
    expect((await desk.claim(requestId, { claimId })).claimId).toBe(claimId);
    await refusal(desk.claim(requestId, { claimId, actionArgs: { amount: 6 } }), 'DIGEST_MISMATCH');
  });

  test('CASE 11: given an approval for digest A, when another argument is claimed, then DIGEST_MISMATCH and it stays unclaimed', async () => {
    const { desk, requestId } = await approved();
    const others: JsonObject[] = [
      { actionArgs: { amount: 6, to: 'ann' } },
      { actionArgs: { amount: '5', to: 'ann' } },
      { actionArgs: { amount: 5, to: 'ann', cc: null } },
      { actionName: 'send2' },
      { phase: 'after' },
      { targetAgent: 'mailer' },
    ];
    for (const more of others) await refusal(desk.claim(requestId, more), 'DIGEST_MISMATCH');
    expect(await desk.state(requestId)).not.toHaveProperty('claim');
    const { effectiveArgs } = await desk.claim(requestId, { actionArgs: { to: 'ann', amount: 5 } });
    expect(effectiveArgs).toEqual({ amount: 5, to: 'ann' });
  });

  test('planted fault: given a claim that compares with what it was handed, then CASE 11 sees the other action pass', async () => {
    const { desk, requestId } = await approved();
    const request = await desk.read(requestId);
    const action = { actionName: 'send', actionArgs: { amount: 6, to: 'ann' }, phase: 'before' as const };
    const { digest, canonical } = actionContent(action);
    const careless: StoredRequest = {
      state: { ...request.state, effectiveDigest: digest },
      contents: new Map([[digest, canonical]]),
    };
    const context = { claimant: bot.id, now: desk.world.now(), newClaimId: 'new' };
    expect(claim(careless, { action }, context).kind).toBe('change');
    expect(() => claim(request, { action }, context)).toThrow(/differs/);
  });

  test('CASE 15: given an edited approval, when the original is claimed, then it is told what was approved', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    const editedArgs = { to: 'bea@example.org' };
    const { effectiveDigest } = await desk.vote(requestId, alice, 'edit', { editedArgs });
    const error = await refusal(desk.claim(requestId), 'DIGEST_MISMATCH');
    expect(error.members).toEqual({ effectiveDigest, effectiveArgs: editedArgs });
    expect((await desk.claim(requestId, { actionArgs: editedArgs })).effectiveArgs).toEqual(editedArgs);
  });

  test.each(['PENDING', 'REJECTED', 'CANCELLED', 'RESPONDED', 'REVOKED'])(
    'given a request that is %s, when it is claimed, then NOT_APPROVED',
    async (status) => {
      const desk = new Desk();
      const { requestId } = (await desk.ask('send')).state;
      if (status === 'REJECTED') await desk.vote(requestId, alice, 'reject');
      if (status === 'CANCELLED') await desk.cancel(requestId);
      if (status === 'RESPONDED') await desk.vote(requestId, alice, 'respond', { response: 1 });
      if (status === 'REVOKED') await desk.vote(requestId, alice, 'approve');
      if (status === 'REVOKED') await desk.revoke(requestId, alice);
      expect((await refusal(desk.claim(requestId), 'NOT_APPROVED')).members).toEqual({ status });
    },
  );

  test('CASE 54: given another agent, when it claims or cancels, then the same as for an id that does not exist', async () => {
    const { desk, requestId } = await approved();
    const unknown = requestId.replace(/./g, 'x');
    for (const attempt of [(id: string) => desk.claim(id, {}, otherBot), (id: string) => desk.cancel(id, otherBot)]) {
      const foreign = await refusal(attempt(requestId), 'NOT_FOUND');
      const missing = await refusal(desk.cancel(unknown, otherBot), 'NOT_FOUND');
      expect(foreign.message.replace(requestId, unknown)).toBe(missing.message);
      expect(foreign.members).toEqual(missing.members);
    }
    expect(await desk.audit()).toEqual(['request_created', 'request_approved']);
  });

  test('given an action that the policy allows, then it is claimed like any other, once', async () => {
    const desk = new Desk();
    const { requestId, status } = (await desk.ask('look')).state;
    expect(status).toBe('APPROVED');
    await desk.claim(requestId);
    await refusal(desk.claim(requestId), 'ALREADY_CLAIMED');
  });
});

describe('taking back', () => {
  test('CASE 10: given a claimed approval, when somebody rejects or revokes, then refused; before the claim a revocation works', async () => {
    const { desk, requestId } = await approved();
    const other = (await desk.ask('send')).state.requestId;
    await desk.vote(other, alice, 'approve');
    await desk.claim(requestId);
    await refusal(desk.revoke(requestId, alice), 'ALREADY_CLAIMED');
    await refusal(desk.vote(requestId, alice, 'reject'), 'VOTE_CONFLICT');
    await refusal(desk.vote(requestId, { ...alice, id: 'anna' }, 'reject'), 'ALREADY_DECIDED');
    const revoked = await desk.revoke(other, alice, { note: 'wrong person' });
    expect(revoked).toMatchObject({ status: 'REVOKED', decision: { source: 'human', decidedBy: ['alice'] } });
    expect(await desk.revoke(other, alice)).toEqual(revoked);
    expect((await desk.audit(other)).at(-1)).toBe('approval_revoked');
    await refusal(desk.claim(other), 'NOT_APPROVED');
  });

  test('given somebody without the role, or a question that is open, then no revocation', async () => {
    const { desk, requestId } = await approved();
    await refusal(desk.revoke(requestId, bob), 'NOT_AN_APPROVER');
    await refusal(desk.revoke((await desk.ask('send')).state.requestId, alice), 'NOT_APPROVED');
  });

  test('CASE 7 (logic): given a cancellation and an approval at once, then one wins, and what is cancelled is never claimed', async () => {
    for (const first of ['cancel', 'approve']) {
      const desk = new Desk();
      const { requestId } = (await desk.ask('send')).state;
      const cancel = () => desk.cancel(requestId);
      const approve = () => desk.vote(requestId, alice, 'approve');
      const [one, two] = await Promise.allSettled(first === 'cancel' ? [cancel(), approve()] : [approve(), cancel()]);
      expect([one?.status, two?.status].sort()).toEqual(['fulfilled', 'rejected']);
      expect([one, two].find((result) => result?.status === 'rejected')).toMatchObject({
        reason: { code: 'ALREADY_DECIDED' },
      });
      const { status } = await desk.state(requestId);
      if (status === 'CANCELLED') await refusal(desk.claim(requestId), 'NOT_APPROVED');
      expect(await desk.audit()).toHaveLength(2);
    }
  });
});

describe('outcome', () => {
  test('given an unknown outcome, then it may be settled; what is settled is final', async () => {
    const { desk, requestId } = await approved();
    const { claimId } = await desk.claim(requestId);
    await refusal(desk.report(requestId, { claimId: 'other', outcome: 'succeeded' }), 'CONFLICT');
    await desk.report(requestId, { claimId, outcome: 'unknown' });
    const settled = await desk.report(requestId, { claimId, outcome: 'succeeded', result: null });
    expect(settled).toMatchObject({ outcome: { outcome: 'succeeded' } });
    expect(await desk.report(requestId, { claimId, outcome: 'succeeded' })).toEqual(settled);
    await refusal(desk.report(requestId, { claimId, outcome: 'failed' }), 'CONFLICT');
    await refusal(desk.report(requestId, { claimId, outcome: 'unknown' }), 'CONFLICT');
    expect((await desk.audit()).filter((type) => type === 'outcome_reported')).toHaveLength(2);
  });

  test('given an approval that was not claimed, then there is nothing to report', async () => {
    const { desk, requestId } = await approved();
    await refusal(desk.report(requestId, { claimId: 'any', outcome: 'succeeded' }), 'CONFLICT');
  });
});
