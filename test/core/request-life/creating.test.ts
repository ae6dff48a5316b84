import { describe, expect, test } from 'vitest';
import { attemptKey } from '../../../core/audit-chain.ts';
import { createRequest } from '../../../core/use-cases/create-request.ts';
import { readRequestFor } from '../../../core/use-cases/read-request.ts';
import { waitForDecision } from '../../../core/use-cases/wait-for-decision.ts';
import { delegating } from './altered-store.ts';
import { bot, Desk, otherBot, people, refusal } from './desk.ts';

const { alice, dora } = people;

describe('asking twice', () => {
  const body = { runId: 'run-1', actionName: 'send', actionArgs: { b: 1, a: 2 } };
  const create = (desk: Desk, more: object = {}, principal = bot, idempotencyKey: string | undefined = 'key-1') =>
    createRequest(desk, { body: { ...body, ...more }, idempotencyKey, principal, until: desk.world.in(5) });

  test('CASE 21: given the same key and body, then the same request; another key order is the same body', async () => {
    const desk = new Desk();
    const first = await create(desk);
    expect(first.created).toBe(true);
    expect(first.request.state.requestId).toMatch(/^[A-Za-z0-9_-]{22}$/);
    await desk.vote(first.request.state.requestId, alice, 'approve');
    const again = await create(desk, { actionArgs: { a: 2, b: 1 } });
    expect(again.created).toBe(false);
    expect(again.request.state).toMatchObject({ requestId: first.request.state.requestId, status: 'APPROVED' });
    expect(await desk.audit()).toHaveLength(2);
  });

  test('CASE 21: given the same key and another body, then IDEMPOTENCY_CONFLICT with nothing of the old body in it', async () => {
    const desk = new Desk();
    const { state } = (await create(desk, { actionArgs: { secret: 'sesame' }, contextSummary: 'sesame' })).request;
    for (const more of [{ actionArgs: {} }, { contextSummary: 'other' }, { timeoutSeconds: 5 }, { onBehalfOf: 'x' }]) {
      const error = await refusal(create(desk, more), 'IDEMPOTENCY_CONFLICT');
      expect(error.members).toEqual({ requestId: state.requestId });
      expect(error.message).not.toMatch('sesame');
    }
    expect(await desk.audit()).toEqual(['request_created']);
  });

  test('CASE 21: given the same key by another agent, then an unrelated request', async () => {
    const desk = new Desk();
    const one = await create(desk);
    const other = await create(desk, { runId: 'run-2' }, otherBot);
    expect(other.created).toBe(true);
    expect(other.request.state.requestId).not.toBe(one.request.state.requestId);
  });

  test('CASE 22 (logic): given 64 creates with one key at once, then one request', async () => {
    const desk = new Desk();
    const results = await Promise.all(Array.from({ length: 64 }, () => create(desk)));
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(results.map(({ request }) => request.state.requestId)).size).toBe(1);
    expect(await desk.audit()).toEqual(['request_created']);
  });

  test('given an occurrenceId, then it serves as the key, for each phase apart; without a key an equal question that waits is the same', async () => {
    const desk = new Desk();
    const occurring = (phase: string) => desk.ask('send', { occurrenceId: 'step-1', phase });
    const first = await occurring('before');
    expect((await occurring('before')).state.requestId).toBe(first.state.requestId);
    expect((await occurring('after')).state.requestId).not.toBe(first.state.requestId);
    const { requestId } = (await desk.ask('send')).state;
    expect((await desk.ask('send')).state.requestId).toBe(requestId);
    expect((await desk.ask('send', { actionArgs: {} })).state.requestId).not.toBe(requestId);
    await desk.vote(requestId, alice, 'approve');
    expect((await desk.ask('send')).state.requestId).not.toBe(requestId);
    expect(await desk.audit()).toHaveLength(6);
  });

  test('given a key that is no header value, then VALIDATION_FAILED', async () => {
    for (const key of ['', 'a b', 'é', 'x'.repeat(129)])
      await refusal(create(new Desk(), {}, bot, key), 'VALIDATION_FAILED');
  });
});

describe('asking', () => {
  test('given a run of another requester, then CONFLICT', async () => {
    const desk = new Desk();
    await desk.ask('send');
    await refusal(desk.ask('send', {}, undefined, otherBot), 'CONFLICT');
  });

  test('CASE 23 (count): given a first rejection, then every further ask of that action in the run counts, and no later rejection starts anew', async () => {
    const desk = new Desk();
    const counted = async () => (await desk.store.readTail('run-1'))?.run.attempts[attemptKey('send')];
    await desk.ask('send', { actionArgs: {} });
    expect(await counted()).toBeUndefined();
    await desk.vote((await desk.ask('send')).state.requestId, alice, 'reject');
    expect(await counted()).toBe(1);
    await desk.ask('send', { actionArgs: { n: 1 } });
    await desk.ask('remind');
    await desk.vote((await desk.ask('send')).state.requestId, alice, 'reject');
    expect(await counted()).toBe(3);
  });

  test('given a mission that nobody defined, then VALIDATION_FAILED', async () => {
    await refusal(new Desk().ask('send', { missionId: 'mars' }), 'VALIDATION_FAILED');
  });

  test('given an action that is not listed, then a gate with the defaults, never an approval', async () => {
    for (const name of ['unlisted', 'LOOK', 'look ', '__proto__', 'constructor'])
      expect((await new Desk().ask(name)).state).toMatchObject({
        status: 'PENDING',
        policy: { name: 'approval_gate' },
        approvals: [{ role: 'support_agent', count: 1 }],
      });
  });

  test('given a sampled action, then it is allowed and its draw is kept, also in the audit', async () => {
    const desk = new Desk();
    const drawn = [];
    for (let n = 0; n < 40; n++) {
      const { status, sample } = (await desk.ask('draft')).state;
      expect(status).toBe('APPROVED');
      expect(sample?.sampled).toBe((sample?.draw ?? 1) < 0.5);
      drawn.push(sample?.sampled);
    }
    expect(new Set(drawn)).toEqual(new Set([true, false]));
    const [entry] = await desk.store.entries('run-1', 0, 1);
    expect(JSON.parse(entry?.canonical ?? '').details.sample).toMatchObject({ rate: 0.5, sampled: drawn[0] });
  });

  test.each([
    ['actionArgs', 256 * 1024, (text: string) => ({ actionArgs: { a: text } })],
    ['contextSummary', 8 * 1024, (text: string) => ({ contextSummary: text })],
    ['metadata', 16 * 1024, (text: string) => ({ metadata: { a: text } })],
  ])('given %s of more than %i bytes, then PAYLOAD_TOO_LARGE and nothing stored', async (field, limit, with_) => {
    const desk = new Desk();
    const frame = field === 'contextSummary' ? 0 : '{"a":""}'.length;
    await desk.ask('send', with_('x'.repeat(limit - frame)));
    const error = await refusal(desk.ask('send', with_('x'.repeat(limit - frame + 1))), 'PAYLOAD_TOO_LARGE');
    expect(error.members).toEqual({ field, bytes: limit + 1, limit });
    expect(await desk.audit()).toHaveLength(1);
  });

  test('given every race is lost, then TOO_MANY_REQUESTS when the time is over, and nothing stored', async () => {
    const desk = new Desk();
    let tries = 0;
    const commit = async () => {
      tries += 1;
      return 'conflict' as const;
    };
    const lost = { ...delegating(desk.store), commit };
    const { policies, world } = desk;
    const asking = { body: { runId: 'r', actionName: 'send', actionArgs: {} }, principal: bot, until: world.in(5) };
    await refusal(createRequest({ store: lost, policies, world }, asking), 'TOO_MANY_REQUESTS');
    expect(tries).toBeGreaterThan(5);
    expect(world.now() <= '2026-11-30T14:00:05.000Z').toBe(true);
  });
});

describe('reading', () => {
  test('CASE 54: given another agent or a person without any of its roles, then NOT_FOUND', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    const read = (principal: typeof bot) => readRequestFor(desk, { requestId, principal });
    await refusal(read(otherBot), 'NOT_FOUND');
    await refusal(read({ ...alice, roles: ['gardener'] }), 'NOT_FOUND');
    await refusal(read({ ...otherBot, id: 'dave', scopes: ['policies'] }), 'NOT_FOUND');
    for (const reader of [bot, alice, dora, { ...otherBot, id: 'dave', scopes: ['audit' as const] }])
      expect((await read(reader)).state.requestId).toBe(requestId);
  });

  test('CASE 25 (logic): given the decision came first, then the wait answers at once; else when it comes, or at its end', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    const wait = () => waitForDecision(desk, { requestId, principal: bot, seconds: 20, until: desk.world.in(25) });
    const start = desk.world.now();
    expect((await wait()).state.status).toBe('PENDING');
    expect(desk.world.now() > start && desk.world.now() <= '2026-11-30T14:00:20.000Z').toBe(true);
    const waiting = wait();
    await desk.vote(requestId, alice, 'approve');
    expect((await waiting).state.status).toBe('APPROVED');
    const before = desk.world.now();
    expect((await wait()).state.status).toBe('APPROVED');
    expect(desk.world.now()).toBe(before);
  });
});
