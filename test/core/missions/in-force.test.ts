import { describe, expect, test } from 'vitest';
import { boundVersion } from '../../../core/mission-in-force.ts';
import { delegating } from '../request-life/altered-store.ts';
import { otherBot, people, refusal } from '../request-life/desk.ts';
import { missionOf, Office } from './office.ts';

const { alice, carol } = people;
// biome-ignore lint/suspicious/noThenProperty: the word of the policy language; nobody awaits a rule
const rule = (id: string, when: string, effect: string, more = {}) => ({ id, when, then: effect, ...more });
const hour = 3600;

describe('the field example: what a mission decides', () => {
  const sales = missionOf('sales', 'autonomous', [
    rule('no-competitor', 'has(args.to) && args.to.endsWith("@competitor.example")', 'stop'),
  ]);
  const refunds = missionOf('refunds', 'autonomous', [
    rule('large-refund', 'has(args.amount) && args.amount > 500.0', 'pause'),
  ]);
  const verdicts = async (missionId: string, actionArgs: object) => {
    const office = new Office();
    await office.publish(sales);
    await office.publish(refunds);
    const { state } = await office.ask(missionId, { actionArgs: { ...actionArgs } });
    return [state.status, state.policy.matched.map(({ ruleId }) => ruleId)];
  };

  test.each([
    ['sales', { to: 'ann@competitor.example' }, 'REJECTED', ['no-competitor']],
    ['refunds', { to: 'ann@competitor.example' }, 'APPROVED', []],
    ['refunds', { amount: 500.01 }, 'PENDING', ['large-refund']],
    ['refunds', { amount: 500 }, 'APPROVED', []],
    ['sales', { amount: 500.01 }, 'APPROVED', []],
  ])('%s %j: %s', async (missionId, actionArgs, status, matched) => {
    expect(await verdicts(missionId, actionArgs)).toEqual([status, matched]);
  });

  test('a mission that nobody published is refused, and a run keeps to the mission and the requester of its first request', async () => {
    const office = new Office();
    await office.publish(sales);
    await office.publish(refunds);
    await refusal(office.ask('unknown'), 'VALIDATION_FAILED');
    await office.ask('sales');
    await refusal(office.ask('refunds'), 'CONFLICT');
    await refusal(office.ask('default'), 'CONFLICT');
    await refusal(office.ask('sales', {}, otherBot), 'CONFLICT');
    expect((await office.ask('sales')).state.status).toBe('APPROVED');
  });
});

describe('which version binds', () => {
  const versionIn = async (office: Office, runId: string) =>
    (await office.ask('sales', { runId })).state.policy.version;

  test('a run keeps the version that it began with for 24 hours and takes the newest then', async () => {
    const office = new Office();
    await office.publish(missionOf('sales'));
    expect(await versionIn(office, 'old')).toBe('1');
    await office.publish(missionOf('sales', 'dual_approval'));
    office.world.pass(24 * hour - 1);
    expect(await versionIn(office, 'old')).toBe('1');
    expect(await versionIn(office, 'new')).toBe('2');
    office.world.pass(1);
    expect(await versionIn(office, 'old')).toBe('2');
    await office.publish(missionOf('sales', 'sampling'));
    expect([await versionIn(office, 'old'), await versionIn(office, 'new')]).toEqual(['3', '2']);
  });

  test('a version published with force binds running runs at once, a later one without does not, and the 24 hours go on', async () => {
    const office = new Office();
    await office.publish(missionOf('sales'));
    await versionIn(office, 'run');
    office.world.pass(hour);
    await office.publish(missionOf('sales', 'sampling'), { force: true });
    expect(await versionIn(office, 'run')).toBe('2');
    await office.publish(missionOf('sales', 'dual_approval'));
    expect(await versionIn(office, 'run')).toBe('2');
    office.world.pass(23 * hour);
    expect(await versionIn(office, 'run')).toBe('3');
  });

  test('a run that began under the deployed file keeps it; a forced version binds it', async () => {
    const office = new Office();
    const { version } = office.policies.deployed;
    const ask = async () => (await office.ask('default', { actionName: 'look' })).state;
    expect((await ask()).policy.version).toBe(version);
    await office.publish(missionOf('default'));
    expect((await ask()).policy.version).toBe(version);
    await office.publish(missionOf('default', 'sampling'), { force: true });
    expect(await ask()).toMatchObject({ status: 'PENDING', policy: { version: '2' } });
  });

  test('every version binds every run within a day of its publication, whatever was forced in between', () => {
    const now = '2026-11-30T14:00:00.000Z';
    const run = (policyVersion: string, policySince?: string) => ({
      policyVersion,
      ...(policySince && { policySince }),
    });
    const head = { newest: 5, forced: 3, digest: '' };
    expect(boundVersion(head, undefined, now)).toBeUndefined();
    expect(boundVersion(head, run('2', '2026-11-29T14:00:00.001Z'), now)).toBe('3');
    expect(boundVersion(head, run('4', '2026-11-29T14:00:00.001Z'), now)).toBe('4');
    expect(boundVersion(head, run('4', '2026-11-29T14:00:00.000Z'), now)).toBeUndefined();
    expect(boundVersion(head, run('0123456789ab', '2026-11-30T13:00:00.000Z'), now)).toBe('3');
    expect(boundVersion(undefined, run('0123456789ab', '2026-11-30T13:00:00.000Z'), now)).toBe('0123456789ab');
    expect(boundVersion(head, run('4'), now)).toBeUndefined();
  });

  test('a version is read and compiled once; which one is the newest is looked up for every request', async () => {
    const office = new Office();
    const reads: string[] = [];
    const { store } = office;
    office.store = {
      ...delegating(store),
      readPublished: async (missionId, version) => {
        reads.push(`${missionId} ${version}`);
        return store.readPublished(missionId, version);
      },
    };
    await office.publish(missionOf('sales'));
    for (const run of ['a', 'b', 'c']) await versionIn(office, run);
    expect(reads).toEqual(['sales 1']);
    await office.publish(missionOf('sales', 'sampling'));
    expect(await versionIn(office, 'd')).toBe('2');
    expect(reads.filter((read) => read === 'sales 2')).toHaveLength(1);
  });
});

describe('a policy that is gone', () => {
  const gone = (office: Office, { head }: { head: boolean }): void => {
    const { store } = office;
    office.store = {
      ...delegating(store),
      readPublished: async () => undefined,
      ...(head && {
        readHead: async () => undefined,
        readForCreate: async (requestId) => ({ ...(await store.readForCreate(requestId, 'gone')), head: undefined }),
      }),
    };
  };
  /** A function that has started anew knows no version. */
  const restarted = (office: Office): Office => new Office(office.store);

  test('given the newest version cannot be read, then every action pauses, with the deployed file’s role', async () => {
    const before = new Office();
    await before.publish(missionOf('sales'));
    gone(before, { head: false });
    const { state } = await restarted(before).ask('sales');
    expect(state).toMatchObject({ status: 'PENDING', approvals: [{ role: 'support_agent', count: 1 }] });
  });

  test('CASE 29: given the policy is deleted between question and answer, then people decide under the request’s own authority', async () => {
    const first = new Office();
    await first.publish(missionOf('sales', 'approval_gate'));
    const asked = [await first.ask('sales'), await first.ask('sales'), await first.ask('sales')].map(
      ({ state }) => state,
    );
    gone(first, { head: true });
    const office = restarted(first);
    const [rejected, approved, edited] = asked as [(typeof asked)[0], (typeof asked)[0], (typeof asked)[0]];

    expect(await office.decide(rejected.requestId, alice, { decision: 'reject', note: 'no' })).toMatchObject({
      status: 'REJECTED',
      decision: { source: 'human', decidedBy: ['alice'] },
    });
    const argsDigest = approved.effectiveDigest;
    await refusal(office.decide(approved.requestId, carol, { decision: 'approve', argsDigest }), 'NOT_FOUND');
    expect(await office.decide(approved.requestId, alice, { decision: 'approve', argsDigest })).toMatchObject({
      status: 'APPROVED',
    });
    expect(await office.reevaluate(edited.requestId, alice)).toMatchObject({ status: 'PENDING', version: 1 });
    const edit = { decision: 'edit', argsDigest: edited.effectiveDigest, editedArgs: { amount: 2 } };
    expect(await office.decide(edited.requestId, alice, edit)).toMatchObject({ status: 'APPROVED' });
    await refusal(office.ask('sales', { runId: 'run-2' }), 'VALIDATION_FAILED');
    expect(await office.verify('run-1')).toMatchObject({ intact: true });
  });
});

describe('after the step', () => {
  const checked = missionOf('sales', 'autonomous', [
    rule('failed', 'phase == "after" && result.status != "ok"', 'stop', { reason: 'The step went wrong' }),
  ]);
  const checkpointOf = (status: unknown, occurrenceId: string) => ({
    phase: 'after',
    occurrenceId,
    actionArgs: {},
    actionResult: { status } as never,
  });

  test('given the result is wrong, then the checkpoint is stopped for good, and the run’s next requests with it', async () => {
    const office = new Office();
    await office.publish(checked);
    expect((await office.ask('sales', { occurrenceId: 'step-1' })).state.status).toBe('APPROVED');
    expect((await office.ask('sales', checkpointOf('ok', 'step-1'))).state.status).toBe('APPROVED');
    expect((await office.ask('sales', { occurrenceId: 'step-2' })).state.status).toBe('APPROVED');
    const { state } = await office.ask('sales', checkpointOf('error', 'step-2'));
    expect(state).toMatchObject({ status: 'REJECTED', policy: { matched: [{ ruleId: 'failed' }] } });
    expect((await office.ask('sales', checkpointOf('error', 'step-2'))).state.requestId).toBe(state.requestId);

    const next = (await office.ask('sales')).state;
    expect(next).toMatchObject({ status: 'REJECTED', decision: { source: 'policy' } });
    expect(next.policy.matched[0]).toMatchObject({ ruleId: 'run:stopped', effect: 'stop' });
    expect(next.policy.matched[0]?.reason).toContain(state.requestId);
    expect((await office.ask('sales', { runId: 'run-2' })).state.status).toBe('APPROVED');
    expect(await office.verify('run-1')).toMatchObject({ intact: true });
  });

  test('given a person rejects the checkpoint, then the run is stopped; before the step a rejection stops only itself', async () => {
    const office = new Office();
    await office.publish(missionOf('sales', 'approval_gate'));
    const before = await office.ask('sales');
    await office.decide(before.state.requestId, alice, { decision: 'reject', note: 'no' });
    const checkpoint = await office.ask('sales', { phase: 'after', actionResult: 1 });
    expect(checkpoint.state.status).toBe('PENDING');
    await office.decide(checkpoint.state.requestId, alice, { decision: 'reject', note: 'stop here' });
    expect((await office.ask('sales')).state).toMatchObject({
      status: 'REJECTED',
      policy: { matched: [{ ruleId: 'run:stopped' }] },
    });
  });
});
