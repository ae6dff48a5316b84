import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../core/json.ts';
import { people, refusal } from '../request-life/desk.ts';
import { missionOf, Office } from './office.ts';

const { alice, bob, carol } = people;
// biome-ignore lint/suspicious/noThenProperty: the word of the policy language; nobody awaits a rule
const rule = (id: string, when: string, effect: string, more = {}) => ({ id, when, then: effect, ...more });
const approving = (state: { effectiveDigest: string }) => ({ decision: 'approve', argsDigest: state.effectiveDigest });

/** A request that waits for one support agent, and the version that was published after it. */
async function waiting(next: JsonObject) {
  const office = new Office();
  await office.publish(missionOf('sales', 'approval_gate'));
  const { state } = await office.ask('sales', { actionArgs: { amount: 900 } });
  expect(state.status).toBe('PENDING');
  await office.publish(next);
  return { office, state };
}

describe('running the newest rules on a request that waits', () => {
  test('given they stop it, then it is rejected by the policy, owes nothing more, and the chain says so', async () => {
    const { office, state } = await waiting(
      missionOf('sales', 'approval_gate', [rule('no', 'args.amount > 500.0', 'stop')]),
    );
    const after = await office.reevaluate(state.requestId, alice);
    expect(after).toMatchObject({
      status: 'REJECTED',
      decision: { source: 'policy', decidedBy: [] },
      policy: { version: '2', matched: [{ ruleId: 'no', effect: 'stop' }] },
      owed: {},
    });
    const entry = (await office.entries('run-1')).at(-1);
    expect(entry).toMatchObject({
      type: 'request_reevaluated',
      actor: { kind: 'person', id: 'alice' },
      policyVersion: '2',
      details: { effect: 'stop', status: 'REJECTED', matched: [{ ruleId: 'no', effect: 'stop' }] },
    });
    expect(await office.verify('run-1')).toMatchObject({ intact: true, entries: 2 });
    await refusal(office.reevaluate(state.requestId, alice), 'ALREADY_DECIDED');
  });

  test('given they ask for more votes, then those are needed, the new roles hear of it, and votes that were given count', async () => {
    const approvals = [
      { role: 'support_agent', count: 1 },
      { role: 'senior_manager', count: 1 },
    ];
    const { office, state } = await waiting(
      missionOf('sales', 'approval_gate', [rule('more', 'args.amount > 500.0', 'pause', { approvals })]),
    );
    await refusal(office.reevaluate(state.requestId, carol), 'NOT_FOUND');
    const after = await office.reevaluate(state.requestId, alice);
    expect(after).toMatchObject({
      status: 'PENDING',
      approvals,
      asked: ['support_agent', 'senior_manager'],
      deadline: state.deadline,
      policy: { version: '2', matched: [{ ruleId: 'more' }] },
    });
    expect(Object.keys(after.owed).sort()).toEqual(['asked-0-senior_manager', 'asked-0-support_agent']);
    expect((await office.decide(state.requestId, alice, approving(state))).status).toBe('PENDING');
    expect((await office.decide(state.requestId, carol, approving(state))).status).toBe('APPROVED');
    expect(await office.verify('run-1')).toMatchObject({ intact: true });
  });

  test('given they would let it run, or ask for less, then it waits as before: nothing is loosened', async () => {
    const { office, state } = await waiting(missionOf('sales', 'autonomous'));
    const after = await office.reevaluate(state.requestId, alice);
    expect(after).toMatchObject({ status: 'PENDING', approvals: state.approvals, deadline: state.deadline });
    expect((await office.entries('run-1')).at(-1)).toMatchObject({
      type: 'request_reevaluated',
      details: { effect: 'allow', status: 'PENDING' },
    });
  });

  test('given nothing new was published, then nothing is written', async () => {
    const office = new Office();
    await office.publish(missionOf('sales', 'approval_gate'));
    const { state } = await office.ask('sales');
    expect(await office.reevaluate(state.requestId, alice)).toMatchObject({ version: state.version });
    expect(await office.entries('run-1')).toHaveLength(1);
  });

  test('it changes only its own request: the run keeps its version', async () => {
    const { office, state } = await waiting(missionOf('sales', 'dual_approval'));
    await office.reevaluate(state.requestId, alice);
    expect((await office.ask('sales')).state.policy.version).toBe('1');
  });

  test('given the deadline has passed, then DEADLINE_PASSED; given no role of the mission, NOT_FOUND; an agent, FORBIDDEN', async () => {
    const { office, state } = await waiting(missionOf('sales', 'dual_approval'));
    await refusal(office.reevaluate(state.requestId, bob), 'NOT_FOUND');
    await refusal(office.reevaluate(state.requestId, { ...alice, scopes: ['request'] }), 'FORBIDDEN');
    office.world.pass(600);
    await refusal(office.reevaluate(state.requestId, alice), 'DEADLINE_PASSED');
  });
});

describe('an edit runs the rules of the version that the request stands on', () => {
  test('given a later version is laxer or stricter, then the pinned one counts, until it is run again', async () => {
    const { office, state } = await waiting(
      missionOf('sales', 'approval_gate', [rule('no', 'args.amount > 500.0', 'stop')]),
    );
    const other = (await office.ask('sales', { actionArgs: { amount: 901 } })).state;
    const edit = { decision: 'edit', argsDigest: other.effectiveDigest, editedArgs: { amount: 800 } };
    expect((await office.decide(other.requestId, alice, edit)).status).toBe('APPROVED');

    const { office: second, state: low } = await waiting(
      missionOf('sales', 'approval_gate', [rule('no', 'args.amount > 1000.0', 'stop')]),
    );
    await second.reevaluate(low.requestId, alice);
    const high = { decision: 'edit', argsDigest: low.effectiveDigest, editedArgs: { amount: 2000 } };
    await refusal(second.decide(low.requestId, alice, high), 'EDIT_NOT_ALLOWED');
    expect(state.status).toBe('PENDING');
  });
});

describe('simulation', () => {
  const sales = missionOf('sales', 'autonomous', [
    rule('large', 'args.amount > 500.0', 'pause', { reason: 'Large' }),
    rule('named', 'agent.name == "support-bot"', 'allow'),
  ]);
  const step = (amount: unknown) => ({ actionName: 'pay', actionArgs: { amount } }) as JsonObject;

  test('then every rule is explained, also those that did not match or could not be read, and nothing is written', async () => {
    const office = new Office();
    await office.publish(sales);
    const entries = await office.entries('policies:sales');
    expect(await office.simulate('sales', step(500.01))).toMatchObject({
      verdict: 'pause',
      policy: { version: '1', name: 'autonomous' },
      matched: [{ ruleId: 'large', effect: 'pause', reason: 'Large' }],
      approvals: [{ role: 'support_agent', count: 1 }],
      explanation: [
        { ruleId: 'large', result: true, reason: 'Large' },
        { ruleId: 'named', result: false },
      ],
    });
    expect(await office.simulate('sales', step(500))).toMatchObject({ verdict: 'allow', matched: [], approvals: [] });
    const unread = await office.simulate('sales', step('5000'));
    expect(unread).toMatchObject({ verdict: 'pause', explanation: [{ ruleId: 'large', result: 'unreadable' }, {}] });
    expect(unread.explanation[0]?.reason).not.toBe('Large');
    expect(await office.entries('policies:sales')).toEqual(entries);
    expect(await office.entries('simulation')).toEqual([]);
  });

  test('given a run, then as its next request under its version and its owner; given a document, then that instead', async () => {
    const office = new Office();
    await office.publish(sales);
    await office.ask('sales');
    await office.publish(missionOf('sales', 'dual_approval'));
    const inRun = await office.simulate('sales', { ...step(1), runId: 'run-1' });
    expect(inRun).toMatchObject({ policy: { version: '1' }, explanation: [{}, { ruleId: 'named', result: true }] });
    expect(await office.simulate('sales', step(1))).toMatchObject({ verdict: 'pause', policy: { version: '2' } });
    const document = missionOf('sales', 'autonomous', [rule('none', 'true', 'stop')]);
    expect(await office.simulate('sales', { ...step(1), document })).toMatchObject({ verdict: 'stop' });
    await refusal(office.simulate('sales', { ...step(1), document: missionOf('other') }), 'POLICY_INVALID');
    expect(await office.simulate('new', { ...step(1), document: missionOf('new') })).toMatchObject({
      verdict: 'allow',
    });
    await refusal(office.simulate('new', step(1)), 'NOT_FOUND');
  });
});
