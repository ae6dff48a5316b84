import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../core/json.ts';
import { viewOf } from '../../../core/request-view.ts';
import { readAudit } from '../../../core/use-cases/read-audit.ts';
import { bot, Desk, people, refusal } from './desk.ts';

const { alice, bob, dan } = people;
const secret = '4111111111111111';
const other = '5500000000000004';
const mask = '[hidden by policy, 16 characters]';

async function refund() {
  const desk = new Desk();
  const { requestId } = (await desk.ask('refund', { actionArgs: { amount: 5, card: { number: secret } } })).state;
  return { desk, requestId };
}

describe('CASE 48 (logic): values at secret paths', () => {
  test('given anybody but the requester, then the view hides them, in what was asked and in what would run', async () => {
    const { desk, requestId } = await refund();
    const editedArgs = { amount: 4, card: { number: other } };
    await desk.vote(requestId, alice, 'edit', { editedArgs });
    await desk.vote(requestId, bob, 'approve');
    await desk.vote(requestId, dan, 'approve');
    const request = await desk.read(requestId);
    const seen = viewOf(request, alice);
    expect(JSON.stringify(seen)).not.toMatch(/4111|5500/);
    expect(seen).toMatchObject({
      actionArgs: { amount: 5, card: { number: mask } },
      effectiveArgs: { amount: 4, card: { number: mask } },
      decision: { editedArgs: { amount: 4, card: { number: mask } } },
    });
    expect(viewOf(request, bot)).toMatchObject({
      actionArgs: { card: { number: secret } },
      effectiveArgs: editedArgs,
      decision: { editedArgs },
    });
  });

  test('given the audit, then its entries hold none and the contents beside them are masked', async () => {
    const { desk, requestId } = await refund();
    await desk.vote(requestId, alice, 'edit', { editedArgs: { amount: 4, card: { number: other } } });
    const { items } = await readAudit(desk, { runId: 'run-1' });
    expect(items).toHaveLength(2);
    expect(JSON.stringify(items)).not.toMatch(/4111|5500/);
    expect(JSON.stringify(items).split(mask)).toHaveLength(3);
    for (const { canonical } of await desk.store.entries('run-1', 0, 10)) expect(canonical).not.toMatch(/amount|4111/);
  });

  test('given alerts and refusals, then they hold none', async () => {
    const { desk, requestId } = await refund();
    await desk.dispatch(requestId);
    const { argsDigest } = await desk.state(requestId);
    await desk.vote(requestId, alice, 'edit', { editedArgs: { amount: 4, card: { number: other } } });
    const error = await refusal(desk.vote(requestId, bob, 'approve', { argsDigest }), 'DIGEST_MISMATCH');
    expect(JSON.stringify([desk.published, error.message, error.members])).not.toMatch(/4111|5500/);
    expect(desk.published).toHaveLength(1);
  });
});

describe('secrets in another shape than the policy expects', () => {
  test.each<[string, JsonValue]>([
    ['a text', secret],
    ['a number', Number(secret)],
    ['a list of texts', [secret]],
    ['a list of objects', [{ number: secret }]],
  ])('given the card is %s, then nobody but the requester sees it, and an edit beside it keeps it', async (_, card) => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('refund', { actionArgs: { amount: 5, card } })).state;
    await desk.dispatch(requestId);
    const view = viewOf(await desk.read(requestId), alice);
    expect(JSON.stringify([view, desk.published, await readAudit(desk, { runId: 'run-1' })])).not.toMatch(/4111/);
    expect(view).toMatchObject({ actionArgs: { amount: 5, card: expect.stringMatching(/^\[hidden by policy/) } });
    const { card: mask } = view.actionArgs as JsonObject;
    await desk.vote(requestId, alice, 'edit', { editedArgs: { amount: 4, card: mask ?? null } });
    expect(viewOf(await desk.read(requestId), bot)).toMatchObject({ effectiveArgs: { amount: 4, card } });
  });

  test('given a claim of other arguments, then the refusal shows what was approved without the secret', async () => {
    const { desk, requestId } = await refund();
    await desk.vote(requestId, alice, 'approve');
    await desk.vote(requestId, bob, 'approve');
    const { members } = await refusal(desk.claim(requestId, { actionArgs: { amount: 6 } }), 'DIGEST_MISMATCH');
    expect(members).toMatchObject({ effectiveArgs: { amount: 5, card: { number: mask } } });
    expect(JSON.stringify(members)).not.toMatch(/4111/);
  });
});

describe('the view', () => {
  test('given votes, then each says the role for which it counts, and what an edit voided says so', async () => {
    const { desk, requestId } = await refund();
    await desk.vote(requestId, bob, 'approve', { note: 'fine' });
    expect(viewOf(await desk.read(requestId), alice)).toMatchObject({
      status: 'PENDING',
      verdict: 'pause',
      votes: [{ approver: 'bob', word: 'approve', role: 'support_manager', note: 'fine' }],
      awaits: ['support_manager'],
    });
    await desk.vote(requestId, alice, 'edit', { editedArgs: {} });
    const back = { amount: 5, card: { number: mask } };
    await desk.vote(requestId, alice, 'edit', { editedArgs: { ...back, card: { number: secret } } });
    const { votes } = viewOf(await desk.read(requestId), alice) as { votes: object[] };
    expect(votes[0]).toMatchObject({ approver: 'bob', void: true });
  });

  test('CASE 16: given null as a response, then the answer holds it; given none, then it holds no such member', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    await desk.vote(requestId, alice, 'respond', { response: null });
    const { decision } = viewOf(await desk.read(requestId), bot) as { decision: object };
    expect(decision).toMatchObject({ word: 'respond', response: null });
    const approved = (await desk.ask('send')).state.requestId;
    await desk.vote(approved, alice, 'approve');
    expect(viewOf(await desk.read(approved), bot).decision).not.toHaveProperty('response');
  });

  test('CASE 36: given a timeout, then the view shows no decider and the source', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    desk.world.pass(600);
    await desk.sweep();
    expect(viewOf(await desk.read(requestId), bot)).toMatchObject({
      status: 'TIMED_OUT',
      verdict: 'stop',
      decision: { word: 'timeout', source: 'timeout', decidedBy: [] },
    });
  });
});
