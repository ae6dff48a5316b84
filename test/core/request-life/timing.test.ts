import { describe, expect, test } from 'vitest';
import { MemoryStore } from '../../../adapters/memory/store.ts';
import { addSeconds } from '../../../core/instant.ts';
import { awaitedRoles } from '../../../core/quorum.ts';
import { bot, Desk, people, refusal } from './desk.ts';

const { alice, bob, carol, dan, dora, fay, sue } = people;

describe('the deadline', () => {
  test('CASE 3: given the deadline has passed and no sweep has run, when people vote, then DEADLINE_PASSED, one entry for each of them', async () => {
    const desk = new Desk();
    const { requestId, deadline } = (await desk.ask('send')).state;
    desk.world.pass(600);
    expect(desk.world.now()).toBe(deadline);
    const error = await refusal(desk.vote(requestId, alice, 'approve'), 'DEADLINE_PASSED');
    expect(error.members).toMatchObject({ deadline });
    await refusal(desk.vote(requestId, alice, 'reject'), 'DEADLINE_PASSED');
    await refusal(desk.vote(requestId, alice, 'approve'), 'DEADLINE_PASSED');
    await refusal(desk.vote(requestId, { ...alice, id: 'anna' }, 'approve'), 'DEADLINE_PASSED');
    expect(await desk.audit()).toEqual(['request_created', 'late_attempt', 'late_attempt']);
    expect(await desk.state(requestId)).toMatchObject({
      status: 'PENDING',
      votes: [],
      lateAttempts: { alice: 3, anna: 1 },
    });
    expect(await desk.verify()).toMatchObject({ intact: true, entries: 3 });
  });

  test('CASE 3: given an instant before the deadline, then the vote counts', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    desk.world.pass(599.999);
    expect((await desk.vote(requestId, alice, 'approve')).status).toBe('APPROVED');
  });

  test('CASE 3: given the sweep has run, when somebody votes or the agent claims, then the same, with the same trace', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    desk.world.pass(601);
    await desk.sweep();
    await refusal(desk.vote(requestId, alice, 'approve'), 'DEADLINE_PASSED');
    await refusal(desk.claim(requestId), 'DEADLINE_PASSED');
    await refusal(desk.claim(requestId), 'DEADLINE_PASSED');
    expect(await desk.audit()).toEqual(['request_created', 'request_timed_out', 'late_attempt', 'late_attempt']);
    expect((await desk.state(requestId)).status).toBe('TIMED_OUT');
    expect((await desk.verify()).intact).toBe(true);
  });

  test('CASE 3: given an approval that nobody claimed by claimBy, when it is claimed, then DEADLINE_PASSED, before the sweep and after', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    await desk.vote(requestId, alice, 'approve');
    desk.world.pass(3600);
    await refusal(desk.claim(requestId), 'DEADLINE_PASSED');
    await refusal(desk.revoke(requestId, alice), 'DEADLINE_PASSED');
    await desk.sweep();
    await refusal(desk.claim(requestId), 'DEADLINE_PASSED');
    expect(await desk.state(requestId)).toMatchObject({
      status: 'REVOKED',
      decision: { source: 'timeout', decidedBy: [] },
      lateAttempts: { [bot.id]: 2 },
    });
    expect(await desk.audit()).toEqual(['request_created', 'request_approved', 'late_attempt', 'approval_expired']);
  });

  test('given a store whose clock has passed the limit, when what was decided before it arrives, then it is decided again: too late', async () => {
    let late = 0;
    const store: MemoryStore = new MemoryStore(() => addSeconds(desk.world.now(), late));
    const desk = new Desk({ store });
    const { requestId } = (await desk.ask('send')).state;
    late = 600;
    await refusal(desk.vote(requestId, alice, 'approve'), 'TOO_MANY_REQUESTS');
    late = 0;
    await desk.vote(requestId, alice, 'approve');
    late = 3600;
    await refusal(desk.claim(requestId), 'TOO_MANY_REQUESTS');
    expect(await desk.audit()).toEqual(['request_created', 'request_approved']);
  });

  test('planted fault: given votes that ignore the clock, then CASE 3 sees an approval after the deadline', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    desk.world.pass(601);
    const stopped = new Desk({ store: desk.store });
    expect((await stopped.vote(requestId, alice, 'approve')).status).toBe('APPROVED');
    expect(await desk.audit()).not.toContain('late_attempt');
  });

  test('CASE 35: given no timeout, then the policy stamps one; an agent may shorten it, never lengthen', async () => {
    const desk = new Desk();
    expect((await desk.ask('send')).state.deadline).toBe('2026-11-30T14:10:00.000Z');
    expect((await desk.ask('unlisted')).state.deadline).toBe('2026-11-30T14:10:00.000Z');
    expect((await desk.ask('send', { timeoutSeconds: 60 })).state.deadline).toBe('2026-11-30T14:01:00.000Z');
    await refusal(desk.ask('send', { timeoutSeconds: 601 }), 'VALIDATION_FAILED');
    await refusal(desk.ask('send', { timeoutSeconds: 0 }), 'VALIDATION_FAILED');
  });

  test('CASE 36: given a timeout, then nobody decided it and no text says that a person refused', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    desk.world.pass(600);
    expect(await desk.sweep()).toEqual({ handled: 1, failed: [], unfinished: false });
    const state = await desk.state(requestId);
    expect(state).toMatchObject({
      status: 'TIMED_OUT',
      decision: { word: 'timeout', source: 'timeout', decidedBy: [] },
    });
    const told = await refusal(desk.vote(requestId, alice, 'approve'), 'DEADLINE_PASSED');
    const [, entry] = await desk.store.entries('run-1', 0, 2);
    expect(`${told.message} ${entry?.canonical}`).not.toMatch(/reject|refus|declin/i);
  });
});

describe('escalation', () => {
  test('CASE 30: given nobody answers at any level, then each role is asked once, then TIMED_OUT', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('refund')).state;
    const asked = [];
    for (let level = 0; level < 4; level++) {
      await desk.dispatch(requestId);
      const { asked: roles, level: at, status } = await desk.state(requestId);
      asked.push([at, ...roles, status]);
      desk.world.pass(7200);
      await desk.sweep();
      await desk.sweep();
    }
    expect(asked).toEqual([
      [0, 'support_manager', 'PENDING'],
      [1, 'senior_manager', 'PENDING'],
      [2, 'director', 'PENDING'],
      [2, 'director', 'TIMED_OUT'],
    ]);
    expect(await desk.audit()).toEqual([
      'request_created',
      'request_escalated',
      'request_escalated',
      'request_timed_out',
    ]);
    expect(desk.published.map(({ id }) => id.split('/')[1])).toEqual([
      'asked-0-support_manager',
      'escalated-1-senior_manager',
      'escalated-2-director',
    ]);
  });

  test('CASE 30: given one vote of two, when it escalates, then that vote still counts and only the missing one is asked', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('refund')).state;
    await desk.vote(requestId, bob, 'approve');
    desk.world.pass(7200);
    await desk.sweep();
    const state = await desk.state(requestId);
    expect(state.approvals).toEqual([
      { role: 'support_manager', count: 1 },
      { role: 'senior_manager', count: 1 },
    ]);
    expect(awaitedRoles(state)).toEqual(['senior_manager']);
    await refusal(desk.vote(requestId, dan, 'approve'), 'NOT_AN_APPROVER');
    expect(await desk.vote(requestId, carol, 'approve')).toMatchObject({
      status: 'APPROVED',
      decision: { decidedBy: ['bob', 'carol'] },
    });
  });

  test('CASE 30: given one of two roles has voted, when it escalates, then one director completes it', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('pay')).state;
    await desk.vote(requestId, fay, 'approve');
    desk.world.pass(600);
    await desk.sweep();
    expect(await desk.vote(requestId, dora, 'approve')).toMatchObject({ decision: { decidedBy: ['fay', 'dora'] } });
  });

  test('given votes, then a role is awaited as long as one more of it brings the quorum nearer', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('pay')).state;
    expect(awaitedRoles(await desk.state(requestId))).toEqual(['finance', 'security']);
    expect(awaitedRoles(await desk.vote(requestId, sue, 'approve'))).toEqual(['finance', 'security']);
    expect(awaitedRoles(await desk.vote(requestId, fay, 'approve'))).toEqual([]);
    const other = (await desk.ask('pay')).state.requestId;
    expect(awaitedRoles(await desk.vote(other, fay, 'approve'))).toEqual(['security']);
  });
});

describe('silence that proceeds', () => {
  test('CASE 37: given the alert never left, then no proceed', async () => {
    const desk = new Desk();
    desk.topicFails = true;
    const { requestId } = (await desk.ask('remind')).state;
    await desk.dispatch(requestId);
    desk.world.pass(600);
    await desk.sweep();
    expect((await desk.state(requestId)).status).toBe('TIMED_OUT');
    const [, entry] = await desk.store.entries('run-1', 0, 2);
    expect(JSON.parse(entry?.canonical ?? '').details).toMatchObject({ reason: 'alert_never_left' });
    await refusal(desk.claim(requestId), 'DEADLINE_PASSED');
  });

  test('CASE 37: given the alert left and nobody answered, then approved by timeout, and nobody decided it', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('remind')).state;
    await desk.dispatch(requestId);
    desk.world.pass(600);
    await desk.sweep();
    expect(await desk.state(requestId)).toMatchObject({
      status: 'APPROVED',
      decision: { source: 'timeout', decidedBy: [] },
    });
    await desk.claim(requestId);
    expect(await desk.audit()).toEqual(['request_created', 'request_proceeded', 'approval_claimed']);
    expect((await desk.verify()).intact).toBe(true);
  });
});
