import { describe, expect, test } from 'vitest';
import { documentDigest } from '../../../core/publication.ts';
import { people, refusal } from '../request-life/desk.ts';
import { author, missionOf, Office } from './office.ts';

const { alice } = people;
// biome-ignore lint/suspicious/noThenProperty: the word of the policy language; nobody awaits a rule
const rule = (id: string, when: string, effect: string) => ({ id, when, then: effect });

describe('publishing', () => {
  test('given nothing yet, then version 1; another document, then version 2; each stays readable as it was', async () => {
    const office = new Office();
    const first = missionOf('sales');
    const second = missionOf('sales', 'approval_gate', [rule('never', 'true', 'stop')]);
    expect(await office.publish(first)).toMatchObject({ version: '1', publishedBy: 'erin', force: false });
    const { diff, version } = await office.publish(second);
    expect(version).toBe('2');
    expect(diff).toEqual({
      actions: { added: [], removed: [], changed: ['pay'] },
      rules: { added: ['never'], removed: [], changed: [] },
      settings: { added: [], removed: [], changed: [] },
    });
    expect(await office.read('sales', '1')).toMatchObject({ version: '1', newest: '2', document: first });
    expect(await office.read('sales')).toMatchObject({ version: '2', document: second, publishedBy: 'erin' });
  });

  test('given the same document again, then the same version and no entry; with force, the same version is forced', async () => {
    const office = new Office();
    await office.publish(missionOf('sales'));
    expect(await office.publish(missionOf('sales'), {}, author('paul'))).toMatchObject({
      version: '1',
      publishedBy: 'erin',
    });
    expect(await office.entries('policies:sales')).toHaveLength(1);
    expect(await office.publish(missionOf('sales'), { force: true })).toMatchObject({ version: '1', force: true });
    expect(await office.entries('policies:sales')).toHaveLength(2);
    expect(await office.read('sales')).toMatchObject({ version: '1', newest: '1', forced: '1' });
  });

  test('then the publication is audited with its author, digest and diff, in a chain that verifies', async () => {
    const office = new Office();
    const { documentDigest: digest } = await office.publish(missionOf('sales'));
    await office.publish(missionOf('sales', 'dual_approval'), { force: true });
    const entries = await office.entries('policies:sales');
    expect(entries.map(({ type, actor, details }) => [type, actor.id, details.version, details.force])).toEqual([
      ['policy_published', 'erin', '1', false],
      ['policy_published', 'erin', '2', true],
    ]);
    expect(entries[0].details).toMatchObject({
      documentDigest: digest,
      diff: { actions: { added: ['pay'] }, settings: { added: ['defaults'] } },
    });
    expect(digest).toBe(documentDigest((await office.read('sales', '1')).document));
    expect(await office.verify('policies:sales')).toMatchObject({ intact: true, entries: 2 });
  });

  test('given YAML, then it is the same document; both or neither are refused', async () => {
    const office = new Office();
    const yaml =
      'mission: sales\ndefaults: { approverRole: support_agent, timeoutSeconds: 600 }\nactions: { pay: { policy: autonomous, reason: Money leaves } }\nrules: []\n';
    const { documentDigest: digest } = await office.publish(missionOf('sales'));
    expect(await office.put('sales', { yaml })).toMatchObject({
      publication: { version: '1', documentDigest: digest },
    });
    await refusal(office.put('sales', {}), 'VALIDATION_FAILED');
    await refusal(office.put('sales', { yaml, document: missionOf('sales') }), 'VALIDATION_FAILED');
  });

  test('given a document that is wrong, or names another mission, then POLICY_INVALID with every problem and nothing stored', async () => {
    const office = new Office();
    const wrong = { ...missionOf('sales', 'sometimes', [rule('r', 'args.', 'stop')]), what: 1 };
    const { members } = await refusal(office.put('sales', { document: wrong }), 'POLICY_INVALID');
    expect((members.problems as string[]).length).toBeGreaterThan(1);
    await refusal(office.publish(missionOf('m'.repeat(101))), 'VALIDATION_FAILED');
    await refusal(office.put('other', { document: missionOf('sales') }), 'POLICY_INVALID');
    await refusal(office.read('sales'), 'NOT_FOUND');
    await refusal(office.read('other'), 'NOT_FOUND');
    expect(await office.entries('policies:sales')).toEqual([]);
  });

  test('given the version that was expected is no longer the newest, then CONFLICT that names it', async () => {
    const office = new Office();
    await office.publish(missionOf('sales'), { expectedVersion: '0' });
    await office.publish(missionOf('sales', 'sampling'), { expectedVersion: 1 });
    const late = office.publish(missionOf('sales', 'dual_approval'), { expectedVersion: '1' });
    expect((await refusal(late, 'CONFLICT')).members).toEqual({ version: '2' });
    const { version } = office.policies.deployed;
    await office.publish(missionOf('default'), { expectedVersion: version });
  });

  test('given twenty publish at once, then each has a number of its own and none is left out', async () => {
    const office = new Office();
    const versions = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const document = missionOf('sales', 'autonomous', [rule(`r${index}`, 'true', 'stop')]);
        return Number((await office.publish(document)).version);
      }),
    );
    expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(await office.verify('policies:sales')).toMatchObject({ intact: true, entries: 20 });
  });

  test('given no scope for policies, then FORBIDDEN', async () => {
    await refusal(new Office().publish(missionOf('sales'), {}, alice), 'FORBIDDEN');
  });

  test('the deployed file is the default mission until something is published', async () => {
    const office = new Office();
    const { deployed } = office.policies;
    expect(deployed.version).toMatch(/^[0-9a-f]{12}$/);
    expect(await office.read('default')).toMatchObject({ version: deployed.version, document: deployed.document });
    expect(await office.publish(missionOf('default'))).toMatchObject({
      version: '1',
      diff: { actions: { removed: ['look'] } },
    });
    expect(await office.read('default', deployed.version)).toMatchObject({ version: deployed.version, newest: '1' });
  });
});

describe('guarded publishing', () => {
  const guarded = (mission: string, policy = 'autonomous') =>
    missionOf(mission, policy, [rule('two-eyes', 'action.name == "publish_policy"', 'pause')]);

  test('given a rule that pauses it, then a person approves exactly this document, and then it is published once', async () => {
    const office = new Office();
    await office.publish(guarded('sales'));
    const draft = guarded('sales', 'dual_approval');
    const asked = await office.put('sales', { document: draft });
    if (!('approval' in asked)) throw new Error('it was published');
    const { requestId, effectiveDigest, actionName, requestedBy } = asked.approval.state;
    expect([actionName, requestedBy]).toEqual(['publish_policy', 'erin']);
    const again = await office.put('sales', { document: draft });
    expect('approval' in again && again.approval.state.requestId).toBe(requestId);
    const approvalId = requestId;
    await refusal(office.put('sales', { document: draft, approvalId }), 'NOT_APPROVED');
    await office.decide(requestId, alice, { decision: 'approve', argsDigest: effectiveDigest });

    await refusal(office.put('sales', { document: guarded('sales', 'sampling'), approvalId }), 'DIGEST_MISMATCH');
    await refusal(office.put('sales', { document: draft, force: true, approvalId }), 'DIGEST_MISMATCH');
    await refusal(office.put('sales', { document: draft, approvalId }, author('paul')), 'NOT_FOUND');
    expect(await office.publish(draft, { approvalId })).toMatchObject({ version: '2' });
    expect(await office.publish(draft, { approvalId })).toMatchObject({ version: '2' });
    expect((await office.entries('policies:sales')).at(-1).details).toMatchObject({ approvalId, version: '2' });
    expect((await office.entries('policies:sales:approvals')).map(({ type }) => type)).toEqual([
      'request_created',
      'request_approved',
      'approval_claimed',
    ]);
    expect(await office.verify('policies:sales')).toMatchObject({ intact: true });
    expect(await office.verify('policies:sales:approvals')).toMatchObject({ intact: true });
  });

  test('given another version came in between, then what was approved is no longer what would change', async () => {
    const office = new Office();
    await office.publish({
      ...guarded('sales'),
      rules: [rule('two-eyes', 'action.name == "publish_policy" && !args.force', 'pause')],
    });
    const draft = guarded('sales', 'dual_approval');
    const asked = await office.put('sales', { document: draft });
    if (!('approval' in asked)) throw new Error('it was published');
    const { requestId: approvalId, effectiveDigest } = asked.approval.state;
    await office.decide(approvalId, alice, { decision: 'approve', argsDigest: effectiveDigest });
    await office.publish(guarded('sales', 'sampling'), { force: true });
    await refusal(office.put('sales', { document: draft, approvalId }), 'DIGEST_MISMATCH');
  });

  test('given the action is listed with a gate, then it is asked; a rule about other arguments does not guard by accident', async () => {
    const office = new Office();
    const listed = missionOf('sales');
    listed.actions = { publish_policy: { policy: 'approval_gate', reason: 'Two pairs of eyes' } };
    await office.publish(listed);
    expect(await office.put('sales', { document: missionOf('sales') })).toHaveProperty('approval');
    await office.publish(missionOf('shop', 'autonomous', [rule('large', 'args.amount > 500.0', 'pause')]));
    expect(await office.publish(missionOf('shop'))).toMatchObject({ version: '2' });
  });

  test('given a rule about the action’s name that cannot be read, then it is asked; a rule that stops it stops it', async () => {
    const office = new Office();
    const unread = rule('odd', 'action.name == "publish_policy" && args.nothing == 1.0', 'allow');
    await office.publish(missionOf('sales', 'autonomous', [unread]));
    expect(await office.put('sales', { document: missionOf('sales') })).toHaveProperty('approval');
    await office.publish(missionOf('shop', 'autonomous', [rule('locked', 'action.name == "publish_policy"', 'stop')]));
    await refusal(office.put('shop', { document: missionOf('shop') }), 'FORBIDDEN');
  });

  test('given rules that stop whatever they do not know, then publishing is asked; one that stops everything does not lock it in', async () => {
    const office = new Office();
    await office.publish(missionOf('sales', 'autonomous', [rule('known', '!(action.name in ["pay"])', 'stop')]));
    expect(await office.put('sales', { document: missionOf('sales') })).toHaveProperty('approval');
    await office.publish(missionOf('shop', 'autonomous', [rule('emergency', 'true', 'stop')]));
    expect(await office.publish(missionOf('shop'))).toMatchObject({ version: '2' });
  });

  test('given the default mission is guarded, then so is the first version of a new mission', async () => {
    const office = new Office();
    await office.publish(guarded('default'));
    expect(await office.put('brand-new', { document: missionOf('brand-new') })).toHaveProperty('approval');
  });

  test('given an agent asks in a run of publications, then it is refused', async () => {
    await refusal(new Office().ask('default', { runId: 'policies:default' }), 'VALIDATION_FAILED');
  });
});
