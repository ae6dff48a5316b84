import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { engineCredentials } from '../../local/aws-endpoint.ts';
import { codeOf, codesOf, inTurn, times } from './answers.ts';
import { proven } from './evidence.ts';
import { email, Front, newRun, refund } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start();
});
afterAll(() => front?.stop());
afterEach(() => front.clock(0));

let missions = 0;
/** A mission of its own for each test. */
const newMission = (): string => `mission-${process.pid}-${++missions}`;

const rule = (id: string, when: string, then: string, more: object = {}) => ({ id, when, then, ...more });
const documentOf = (mission: string, policy: string, rules: object[] = []) => ({
  mission,
  defaults: { approverRole: 'support_agent', timeoutSeconds: 1800 },
  actions: {
    issue_refund: { policy, reason: 'Money leaves' },
    send_customer_email: { policy, reason: 'Cannot be taken back' },
  },
  rules,
});

const put = (missionId: string, body: object, as = 'erin') =>
  front.call('PUT', `/v1/policies/${missionId}`, { as }, body);
const read = (missionId: string, query = '', as = 'alice') =>
  front.call('GET', `/v1/policies/${missionId}${query}`, { as });
const simulate = (missionId: string, body: object, as = 'alice') =>
  front.call('POST', `/v1/policies/${missionId}/simulation`, { as }, body);
const reevaluate = (id: string, as = 'alice') => front.call('POST', `/v1/requests/${id}/reevaluation`, { as }, {});

async function published(document: { mission: string }, more: object = {}) {
  const answer = await put(document.mission, { document, ...more });
  expect(answer.status).toBe(200);
  return answer.body;
}

const twenty4Hours = 24 * 3600;

describe('the field example: two rules, each in one mission and not in another', () => {
  const [writing, refunding] = [newMission(), newMission()];
  beforeAll(async () => {
    const competitor = 'has(args.to) && args.to.endsWith("@competitor.example")';
    const reason = 'We do not write to competitors';
    await published(documentOf(writing, 'autonomous', [rule('no-competitor', competitor, 'stop', { reason })]));
    const large = 'action.name == "issue_refund" && args.amount > 500.0';
    await published(documentOf(refunding, 'autonomous', [rule('large-refund', large, 'pause')]));
  });

  test('do not contact a competitor: stopped in the one, not in the other', async () => {
    const toThem = { actionArgs: { to: 'joe@competitor.example', subject: 'Hi', body: '…' } };
    const runId = newRun();
    const stopped = (await front.ask(email({ runId, missionId: writing, ...toThem }))).body;
    expect(stopped).toMatchObject({
      status: 'REJECTED',
      verdict: 'stop',
      decision: { source: 'policy', decidedBy: [] },
      policy: { matched: [{ ruleId: 'no-competitor', effect: 'stop', reason: 'We do not write to competitors' }] },
    });
    expect((await front.ask(email({ runId: newRun(), missionId: writing }))).body.verdict).toBe('allow');
    expect((await front.ask(email({ runId: newRun(), missionId: refunding, ...toThem }))).body.verdict).toBe('allow');
    expect(codeOf(await front.claim(stopped.requestId, email(toThem)))).toBe('NOT_APPROVED');
    await proven(front, runId);
  });

  test('a person must approve every refund above 500 USD: at 500.01 and not at 500', async () => {
    const verdictOf = async (amount: number, missionId: string) =>
      (await front.ask(refund(amount, { runId: newRun(), missionId }))).body.verdict;
    expect(await verdictOf(500.01, refunding)).toBe('pause');
    expect(await verdictOf(500, refunding)).toBe('allow');
    expect(await verdictOf(500.01, writing)).toBe('allow');
    const asked = (await front.ask(refund(501, { runId: newRun(), missionId: refunding }))).body;
    const { body } = await front.approve(asked, 'alice');
    expect(body).toMatchObject({ status: 'APPROVED', decision: { source: 'human', decidedBy: ['alice'] } });
  });

  test('a mission that nobody published is refused; a run stays with the mission and the requester of its first request', async () => {
    const runId = newRun();
    expect(codeOf(await front.ask(refund(1, { runId, missionId: 'nobody-knows' })))).toBe('VALIDATION_FAILED');
    await front.ask(refund(1, { runId, missionId: refunding }));
    const others = [
      await front.ask(refund(1, { runId, missionId: writing })),
      await front.ask(refund(1, { runId })),
      await front.ask(refund(1, { runId, missionId: refunding }), { as: 'billing-bot' }),
    ];
    expect(codesOf(others)).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT']);
    expect(others[0]?.status).toBe(409);
  });

  test('a person sees the requests of missions that name one of their roles', async () => {
    const { requestId } = (await front.ask(refund(501, { runId: newRun(), missionId: refunding }))).body;
    expect((await front.get(requestId, 'alice')).status).toBe(200);
    expect((await front.get(requestId, 'carol')).status).toBe(404);
    expect((await front.get(requestId, 'dave')).status).toBe(200);
  });
});

describe('versions', () => {
  test('are numbered, kept as they were, and audited with author and diff in a chain that verifies', async () => {
    const mission = newMission();
    const first = documentOf(mission, 'autonomous', [rule('a', 'true', 'pause')]);
    const second = documentOf(mission, 'approval_gate', [rule('b', 'false', 'stop')]);
    expect(await published(first)).toMatchObject({ missionId: mission, version: '1', publishedBy: 'erin' });
    const { diff, version } = await published(second);
    expect([version, diff.rules, diff.actions.changed]).toEqual([
      '2',
      { added: ['b'], removed: ['a'], changed: [] },
      ['issue_refund', 'send_customer_email'],
    ]);
    expect((await published(second)).version).toBe('2');
    expect((await read(mission)).body).toMatchObject({ version: '2', document: second });
    expect((await read(mission, '?version=1', 'dave')).body).toMatchObject({ version: '1', document: first });
    expect((await read(mission, '?version=3')).status).toBe(404);
    expect((await read('nobody-knows')).status).toBe(404);
    const { items } = (await front.audit(`policies:${mission}`)).body;
    expect(
      items.map(({ type, actor, details }: never) => [
        type,
        (actor as { id: string }).id,
        (details as { version: string }).version,
      ]),
    ).toEqual([
      ['policy_published', 'erin', '1'],
      ['policy_published', 'erin', '2'],
    ]);
    expect((await front.verify(`policies:${mission}`)).body).toMatchObject({ intact: true, entries: 2 });
  });

  test('the deployed file is the default mission, under 12 hexadecimal digits', async () => {
    const { body } = await read('default');
    expect(body.version).toMatch(/^[0-9a-f]{12}$/);
    expect(body.document.mission).toBe('default');
    expect((await front.ask(refund(1, { runId: newRun() }))).body.policy.version).toBe(body.version);
  });

  test('what is not valid, or names another mission, is 422 with every problem; scopes are asked for', async () => {
    const mission = newMission();
    const wrong = await put(mission, { document: { ...documentOf(mission, 'perhaps'), more: 1 } });
    expect([wrong.status, wrong.body.code]).toEqual([422, 'POLICY_INVALID']);
    expect(wrong.body.problems.length).toBeGreaterThan(1);
    expect(codeOf(await put(mission, { document: documentOf('other', 'autonomous') }))).toBe('POLICY_INVALID');
    expect(codeOf(await put(mission, { yaml: 'mission: [' }))).toBe('POLICY_INVALID');
    const body = { document: documentOf(mission, 'autonomous') };
    const refused = await inTurn(['alice', 'dave', 'support-bot'], (as) => put(mission, body, as));
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect((await read(mission, '', 'support-bot')).status).toBe(403);
    expect((await simulate(mission, refund(1), 'dave')).status).toBe(403);
    expect((await read(mission)).status).toBe(404);
  });

  test('concurrent publishes: each number is won by one, and of those that expect the same version one wins', async () => {
    const mission = newMission();
    const drafts = times(8, (index) => documentOf(mission, 'autonomous', [rule(`r${index}`, 'false', 'stop')]));
    const all = await Promise.all(drafts.map((document) => published(document)));
    expect(all.map(({ version }) => Number(version)).sort((a, b) => a - b)).toEqual(times(8, (index) => index + 1));
    const again = times(6, (index) => documentOf(mission, 'sampling', [rule(`s${index}`, 'false', 'stop')]));
    const raced = await Promise.all(again.map((document) => put(mission, { document, expectedVersion: '8' })));
    expect(codesOf(raced).sort()).toEqual([200, ...times(5, () => 'CONFLICT')]);
    expect((await front.verify(`policies:${mission}`)).body).toMatchObject({ intact: true, entries: 9 });
  });

  test('a run keeps its version for 24 hours; one published with force binds the next request also in running runs', async () => {
    const mission = newMission();
    await published(documentOf(mission, 'autonomous'));
    const [runId, other] = [newRun(), newRun()];
    let amount = 0;
    const ask = async (run = runId) => {
      const { body } = await front.ask(refund(++amount, { runId: run, missionId: mission }));
      return [body.policy.version, body.verdict];
    };
    expect([await ask(), await ask(other)]).toEqual([
      ['1', 'allow'],
      ['1', 'allow'],
    ]);
    await published(documentOf(mission, 'approval_gate'));
    expect([await ask(), await ask(newRun())]).toEqual([
      ['1', 'allow'],
      ['2', 'pause'],
    ]);
    await front.clock(twenty4Hours - 60);
    expect(await ask()).toEqual(['1', 'allow']);
    await front.clock(twenty4Hours + 60);
    expect(await ask()).toEqual(['2', 'pause']);
    await front.clock(0);
    await published(documentOf(mission, 'autonomous', [rule('closed', 'true', 'stop')]), { force: true });
    expect(await ask(other)).toEqual(['3', 'stop']);
    await published(documentOf(mission, 'autonomous'));
    expect(await ask(other)).toEqual(['3', 'stop']);
  });
});

test('a guarded policy: a person approves exactly the document, then it is published', async () => {
  const mission = newMission();
  const guard = rule('two-eyes', 'action.name == "publish_policy"', 'pause');
  await published(documentOf(mission, 'autonomous', [guard]));
  const document = documentOf(mission, 'approval_gate', [guard]);
  const asked = await put(mission, { document });
  expect(asked.status).toBe(202);
  const approval = asked.body;
  expect(approval).toMatchObject({ status: 'PENDING', actionName: 'publish_policy', requestedBy: 'erin' });
  expect(approval.actionArgs.diff.actions.changed).toEqual(['issue_refund', 'send_customer_email']);
  const approvalId = approval.requestId;
  expect(codeOf(await put(mission, { document, approvalId }))).toBe('NOT_APPROVED');
  expect((await read(mission)).body.version).toBe('1');
  expect((await front.approve(approval, 'alice')).body.status).toBe('APPROVED');
  const other = documentOf(mission, 'sampling', [guard]);
  expect(codeOf(await put(mission, { document: other, approvalId }))).toBe('DIGEST_MISMATCH');
  const both = await Promise.all(times(2, () => put(mission, { document, approvalId })));
  expect(both.map(({ status, body }) => [status, body.version])).toEqual([
    [200, '2'],
    [200, '2'],
  ]);
  expect((await front.verify(`policies:${mission}`)).body).toMatchObject({ intact: true, entries: 2 });
  await proven(front, `policies:${mission}:approvals`, approvalId);
});

test('simulation says what would be answered and why, rule by rule, and writes nothing', async () => {
  const mission = newMission();
  await published(
    documentOf(mission, 'autonomous', [
      rule('large', 'args.amount > 500.0', 'pause', { reason: 'A large one' }),
      rule('never', 'args.currency == "XXX"', 'stop'),
    ]),
  );
  await front.zeroMeter();
  const { body } = await simulate(mission, refund(501));
  expect(body).toMatchObject({
    verdict: 'pause',
    matched: [{ ruleId: 'large', effect: 'pause', reason: 'A large one' }],
    approvals: [{ role: 'support_agent', count: 1 }],
    explanation: [
      { ruleId: 'large', result: true },
      { ruleId: 'never', result: false },
    ],
  });
  const unread = (await simulate(mission, refund(1, { actionArgs: { amount: '5000' } }), 'erin')).body;
  expect(unread).toMatchObject({ verdict: 'pause', explanation: [{ result: 'unreadable' }, { result: 'unreadable' }] });
  const document = documentOf(mission, 'autonomous');
  expect((await simulate(mission, { ...refund(501), document })).body.verdict).toBe('allow');
  const { functions } = await front.meter();
  expect(Object.keys(functions.policies)).toEqual(['GetItem']);
  expect(Object.keys(functions)).not.toContain('requests');
});

test('running the newest rules on a pending request stops it, or asks for more, and loosens nothing', async () => {
  const mission = newMission();
  await published(documentOf(mission, 'approval_gate'));
  const [firstRun, secondRun] = [newRun(), newRun()];
  const large = (await front.ask(refund(900, { runId: firstRun, missionId: mission }))).body;
  const small = (await front.ask(refund(10, { runId: secondRun, missionId: mission }))).body;
  const approvals = [
    { role: 'support_agent', count: 1 },
    { role: 'senior_manager', count: 1 },
  ];
  await published(
    documentOf(mission, 'autonomous', [
      rule('too-large', 'args.amount > 500.0', 'stop'),
      rule('both', 'args.amount <= 500.0', 'pause', { approvals }),
    ]),
  );
  const stopped = await reevaluate(large.requestId);
  expect(stopped.body).toMatchObject({ status: 'REJECTED', decision: { source: 'policy' }, policy: { version: '2' } });
  expect(codeOf(await front.approve(large, 'alice'))).toBe('ALREADY_DECIDED');
  expect((await reevaluate(small.requestId)).body).toMatchObject({ status: 'PENDING', approvals });
  await published(documentOf(mission, 'autonomous'));
  expect((await reevaluate(small.requestId)).body).toMatchObject({ status: 'PENDING', approvals });
  expect((await reevaluate(small.requestId, 'bob')).status).toBe(404);
  expect((await reevaluate(small.requestId, 'support-bot')).status).toBe(403);
  expect((await front.approve(small, 'alice')).body.status).toBe('PENDING');
  expect((await front.approve(small, 'carol')).body.status).toBe('APPROVED');
  const entries = await proven(front, secondRun, small.requestId);
  expect(entries.filter(({ type }) => type === 'request_reevaluated')).toHaveLength(2);
  expect((await front.verify(firstRun)).body.intact).toBe(true);
});

test('an after-checkpoint that is stopped is final for its occurrence, and ends the run', async () => {
  const mission = newMission();
  const when = 'phase == "after" && result.status != "ok"';
  await published(documentOf(mission, 'autonomous', [rule('went-wrong', when, 'stop', { reason: 'It went wrong' })]));
  const runId = newRun();
  const step = (phase: string, status?: string) =>
    refund(1, {
      runId,
      missionId: mission,
      phase,
      occurrenceId: 'step-1',
      ...(status && { actionResult: { status } }),
    });
  expect((await front.ask(step('before'))).body.verdict).toBe('allow');
  const stopped = await front.ask(step('after', 'failed'));
  expect(stopped.body).toMatchObject({ verdict: 'stop', policy: { matched: [{ ruleId: 'went-wrong' }] } });
  const again = await front.ask(step('after', 'failed'));
  expect([again.status, again.body.requestId]).toEqual([200, stopped.body.requestId]);
  const next = (await front.ask(refund(2, { runId, missionId: mission }))).body;
  expect(next).toMatchObject({ verdict: 'stop', policy: { matched: [{ ruleId: 'run:stopped' }] } });
  expect((await front.ask(refund(2, { runId: newRun(), missionId: mission }))).body.verdict).toBe('allow');
  expect((await front.verify(runId)).body.intact).toBe(true);
});

test('one create costs a query, one read and one transaction, whichever mission it is for', async () => {
  const mission = newMission();
  await published(documentOf(mission, 'autonomous', [rule('a', 'args.amount > 500.0', 'pause')]));
  await front.ask(refund(1, { runId: newRun(), missionId: mission }));
  await front.stream(false);
  for (const [missionId, key] of [
    [mission, undefined],
    [mission, newRun()],
    ['default', newRun()],
  ]) {
    await front.zeroMeter();
    await front.ask(refund(2, { runId: newRun(), missionId }), key === undefined ? {} : { key });
    const { requests } = (await front.meter()).functions;
    const calls = Object.entries(requests as Record<string, { calls: number }>).map(([name, { calls }]) => [
      name,
      calls,
    ]);
    expect(Object.fromEntries(calls)).toEqual({ BatchGetItem: 1, Query: 1, TransactWriteItems: 1 });
  }
  await front.stream(true);
});

test('CASE 29: a policy deleted between question and answer: people decide, and a rejection can never execute', async () => {
  const mission = newMission();
  await published(documentOf(mission, 'approval_gate'));
  const runId = newRun();
  const [rejected, approved] = await inTurn(
    [901, 902],
    async (amount) => (await front.ask(refund(amount, { runId, missionId: mission }))).body,
  );
  await deleteEveryVersion(mission);

  expect(codeOf(await front.ask(refund(1, { runId: newRun(), missionId: mission })))).toBe('VALIDATION_FAILED');
  expect((await reevaluate(rejected.requestId)).body.status).toBe('PENDING');
  expect((await front.reject(rejected.requestId, 'alice')).body.status).toBe('REJECTED');
  expect(codeOf(await front.claim(rejected.requestId, refund(901)))).toBe('NOT_APPROVED');
  expect((await front.approve(approved, 'alice')).body.status).toBe('APPROVED');
  expect((await front.claim(approved.requestId, refund(902))).status).toBe(200);
  await proven(front, runId, rejected.requestId, approved.requestId);
});

/** Behind the service's back, past its permissions. */
async function deleteEveryVersion(missionId: string): Promise<void> {
  const { dynamodbUrl, template } = front.service;
  const access = { endpoint: dynamodbUrl, region: template.region, credentials: engineCredentials };
  const database = new DynamoDBClient(access);
  const client = DynamoDBDocumentClient.from(database);
  const TableName = template.outputs.PoliciesTable;
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'missionId = :missionId',
      ExpressionAttributeValues: { ':missionId': missionId },
    }),
  );
  expect(Items).toHaveLength(2);
  for (const { version } of Items) await client.send(new DeleteCommand({ TableName, Key: { missionId, version } }));
  database.destroy();
}
