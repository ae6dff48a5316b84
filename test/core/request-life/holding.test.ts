import { describe, expect, test } from 'vitest';
import { addSeconds } from '../../../core/instant.ts';
import { missionPolicy } from '../../../core/policy-document.ts';
import { parsePolicyDocument } from '../../../core/policy-yaml.ts';
import { viewOf } from '../../../core/request-view.ts';
import { listRequests } from '../../../core/use-cases/list-requests.ts';
import { Desk, otherBot, people, refusal } from './desk.ts';

const { alice } = people;

const policyWith = (members: string) => `
mission: default
defaults: { approverRole: support_agent, timeoutSeconds: 600, validForSeconds: 300 }
${members}
actions:
  wire: { policy: approval_gate, holdSeconds: 120, reason: Cannot be called back }
  slow: { policy: autonomous, holdSeconds: 60, reason: Can be stopped for a minute }
  send: { policy: approval_gate, reason: Cannot be taken back }
  look: { policy: autonomous, reason: Read-only }
  halt:
    policy: autonomous
    reason: Stopped
    rules: [{ id: all, when: 'true', then: stop, reason: Never }]
`;

describe('an approval that rests (holdSeconds)', () => {
  const desk = async () => {
    const held = new Desk({ policy: policyWith('') });
    const { requestId } = (await held.ask('wire')).state;
    await held.vote(requestId, alice, 'approve');
    return { held, requestId, from: addSeconds(held.world.now(), 120) };
  };

  test('given a claim too early, then NOT_APPROVED with the time from which it may be; nothing is used', async () => {
    const { held, requestId, from } = await desk();
    const early = await refusal(held.claim(requestId, { claimId: 'mine' }), 'NOT_APPROVED');
    expect(early.members).toEqual({ status: 'APPROVED', claimableAt: from });
    expect(viewOf(await held.read(requestId), alice)).toMatchObject({ status: 'APPROVED', claimableAt: from });
    held.world.pass(119);
    await refusal(held.claim(requestId), 'NOT_APPROVED');
    held.world.pass(1);
    expect(await held.claim(requestId, { claimId: 'mine' })).toMatchObject({ claimId: 'mine' });
    expect(await held.audit(requestId)).toEqual(['request_created', 'request_approved', 'approval_claimed']);
  });

  test('given a revocation meanwhile, then it can never be claimed', async () => {
    const { held, requestId } = await desk();
    held.world.pass(60);
    await held.revoke(requestId, alice);
    held.world.pass(61);
    await refusal(held.claim(requestId), 'NOT_APPROVED');
  });

  test('given an approval by policy, then it rests as well', async () => {
    const held = new Desk({ policy: policyWith('') });
    const { requestId } = (await held.ask('slow')).state;
    await refusal(held.claim(requestId), 'NOT_APPROVED');
    held.world.pass(60);
    await held.claim(requestId);
  });

  test('given none, then the view says nothing of it and the claim is at once', async () => {
    const held = new Desk({ policy: policyWith('') });
    const { requestId } = (await held.ask('look')).state;
    expect(viewOf(await held.read(requestId), alice)).not.toHaveProperty('claimableAt');
    await held.claim(requestId);
  });

  test.each([
    ['the default of an hour', 'defaults: { approverRole: a }', 3600],
    ['its own', 'defaults: { approverRole: a, validForSeconds: 100 }', 100],
  ])('given a rest that outlasts %s, then the policy is not valid', (_, defaults, seconds) => {
    const document = (holdSeconds: number) =>
      `mission: m\n${defaults}\nactions: { x: { policy: autonomous, reason: r, holdSeconds: ${holdSeconds} } }`;
    expect(() => parsePolicyDocument(document(seconds))).toThrow(/could never be claimed/);
    expect(missionPolicy(parsePolicyDocument(document(seconds - 1))).actions.get('x')?.holdSeconds).toBe(seconds - 1);
  });
});

describe('a mission with agents', () => {
  const admitting = () => new Desk({ policy: policyWith('agents: [support-bot]') });

  test('given one of them, then it may ask; given another, then FORBIDDEN and nothing stored', async () => {
    const desk = admitting();
    expect((await desk.ask('look')).state.status).toBe('APPROVED');
    const error = await refusal(desk.ask('look', { runId: 'run-2' }, undefined, otherBot), 'FORBIDDEN');
    expect(error.message).toMatch('billing-bot');
    expect(error.message).not.toMatch('support-bot');
    expect(await desk.audit(undefined, 'run-2')).toEqual([]);
  });

  test('given a name that differs in case only, or an alias, then FORBIDDEN', async () => {
    const desk = admitting();
    for (const id of ['Support-bot', 'support-bot '])
      await refusal(desk.ask('look', {}, undefined, { ...otherBot, id, aliases: ['support-bot'] }), 'FORBIDDEN');
  });
});

describe('requireOutcome', () => {
  const owing = async (members = 'requireOutcome: true') => {
    const desk = new Desk({ policy: policyWith(members) });
    const { requestId } = (await desk.ask('look')).state;
    return { desk, requestId };
  };
  const listed = async (desk: Desk) => {
    const query = { runId: 'run-1' };
    const { items } = await listRequests(desk, { principal: { ...alice, scopes: ['audit'] }, query });
    return items.map(({ outcomeOwed }) => outcomeOwed);
  };
  const owed = async (desk: Desk, requestId: string) => viewOf(await desk.read(requestId), alice).outcomeOwed;

  test('given a claim, then an outcome is owed until it is reported, in the view and in the list', async () => {
    const { desk, requestId } = await owing();
    expect(await owed(desk, requestId)).toBeUndefined();
    const { claimId } = await desk.claim(requestId);
    expect(await owed(desk, requestId)).toBe(true);
    expect(await listed(desk)).toEqual([true]);
    await desk.report(requestId, { claimId, outcome: 'unknown' });
    expect(await owed(desk, requestId)).toBeUndefined();
    expect(await listed(desk)).toEqual([undefined]);
    expect((await desk.verify()).intact).toBe(true);
  });

  test('given one that is owed for too long, then the next request pauses and says why; after the report no more', async () => {
    const { desk, requestId } = await owing();
    const { claimId } = await desk.claim(requestId);
    desk.world.pass(299);
    expect((await desk.ask('look')).state.status).toBe('APPROVED');
    desk.world.pass(1);
    const paused = (await desk.ask('look')).state;
    expect(paused).toMatchObject({
      status: 'PENDING',
      approvals: [{ role: 'support_agent', count: 1 }],
      policy: { matched: [{ ruleId: 'run:outcome-owed', effect: 'pause' }] },
    });
    expect(paused.policy.matched[0]?.reason).toMatch(requestId);
    expect((await desk.ask('halt')).state.status).toBe('REJECTED');
    expect((await desk.ask('look', { runId: 'run-2' })).state.status).toBe('APPROVED');
    await desk.report(requestId, { claimId, outcome: 'succeeded' });
    expect((await desk.ask('look', { actionArgs: { again: true } })).state.status).toBe('APPROVED');
  });

  test('given a hundred that are owed, then the run asks, however fresh they are; and what each entry carries stays small', async () => {
    const { desk, requestId } = await owing();
    await desk.claim(requestId);
    for (let n = 1; n < 100; n++) await desk.claim((await desk.ask('look')).state.requestId);
    expect((await desk.ask('look')).state).toMatchObject({ status: 'PENDING' });
    const tail = await desk.store.readTail('run-1');
    expect(Object.keys(tail?.run.outcomesOwed ?? {})).toHaveLength(100);
  });

  test('given a mission without it, then none is owed', async () => {
    const { desk, requestId } = await owing('');
    await desk.claim(requestId);
    expect(await owed(desk, requestId)).toBeUndefined();
    desk.world.pass(4000);
    expect((await desk.ask('look')).state.status).toBe('APPROVED');
  });
});
