import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, codesOf, inTurn } from './answers.ts';
import { proven } from './evidence.ts';
import { email, Front, newRun, refund } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start();
});
afterAll(() => front?.stop());

const asked = async (body: object) => (await front.ask(body)).body;
const claimed = async (runId: string) => {
  const request = await asked(email({ runId }));
  await front.approve(request, 'alice');
  return { request, claimId: (await front.claim(request.requestId, email())).body.claimId };
};

describe('what is wrong with a body is said by field, with what is allowed', () => {
  const questions: [string, object, RegExp][] = [
    ['no run', { runId: undefined }, /\/runId/],
    ['a run with a blank', { runId: 'a b' }, /\/runId: is "a b"; an id is 1 to 128 characters/],
    ['a run of 129 characters', { runId: 'r'.repeat(129) }, /\/runId/],
    ['no arguments', { actionArgs: undefined }, /\/actionArgs: must be a JSON object/],
    ['a list as arguments', { actionArgs: [] }, /\/actionArgs: must be a JSON object/],
    ['an empty name', { actionName: '' }, /\/actionName: is ""; at least 1 character/],
    ['another phase', { phase: 'during' }, /\/phase: is "during"; allowed are before, after/],
    ['too much confidence', { agentConfidence: 1.1 }, /\/agentConfidence.*1/],
    ['a result before the act', { actionResult: 1 }, /\/actionResult.*phase "after"/],
    ['a longer time than the policy gives', { timeoutSeconds: 1801 }, /\/timeoutSeconds is 1801.*shorten.*1800/],
    ['no time at all', { timeoutSeconds: 0 }, /\/timeoutSeconds/],
    ['half a second', { timeoutSeconds: 0.5 }, /\/timeoutSeconds/],
    ['a mission that nobody defined', { missionId: 'other' }, /\/missionId.*"other"/],
    ['a revision of nothing', { revisionOf: '' }, /revisionOf/],
    ['a subject without a name', { onBehalfOf: '' }, /\/onBehalfOf/],
    ['a field that does not exist', { colour: 1 }, /unknown field "colour"; allowed are runId, actionName, actionArgs/],
    ['two faults', { runId: 1, phase: 2 }, /\/runId.*\/phase/],
  ];
  test.each(questions)('a question with %s', async (_, change, detail) => {
    const runId = newRun();
    const { status, body } = await front.ask(email({ runId, ...change }));
    expect([status, body.code, body.title]).toEqual([400, 'VALIDATION_FAILED', 'The request is not valid']);
    expect(body.detail).toMatch(detail);
    expect((await front.audit(runId)).status).toBe(404);
  });

  const digest = `sha256:${'0'.repeat(64)}`;
  const decisions: [string, object, RegExp][] = [
    ['no decision', { argsDigest: digest }, /\/decision.*approve.*reject.*edit.*respond/],
    ['another decision', { decision: 'maybe', argsDigest: digest }, /\/decision.*approve.*reject.*edit.*respond/],
    ['an approval of nothing seen', { decision: 'approve' }, /\/argsDigest/],
    ['a digest that is none', { decision: 'approve', argsDigest: 'sha256:x' }, /\/argsDigest.*64/],
    ['a rejection without a note', { decision: 'reject' }, /\/note/],
    ['a rejection with an empty note', { decision: 'reject', note: '' }, /\/note: is needed to reject/],
    ['an edit without arguments', { decision: 'edit', argsDigest: digest }, /\/editedArgs/],
    ['an edit with a list', { decision: 'edit', argsDigest: digest, editedArgs: [] }, /\/editedArgs/],
    [
      'an approval with arguments',
      { decision: 'approve', argsDigest: digest, editedArgs: {} },
      /"editedArgs".*allowed/,
    ],
  ];
  test.each(decisions)('a decision with %s', async (_, decision, detail) => {
    const { requestId } = await asked(email({ runId: newRun() }));
    const { status, body } = await front.decide(requestId, 'alice', decision);
    expect([status, body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body.detail).toMatch(detail);
    expect((await front.get(requestId)).body).toMatchObject({ status: 'PENDING', votes: [] });
  });

  test('claims, outcomes and revocations too', async () => {
    const { request, claimId } = await claimed(newRun());
    const id = request.requestId;
    const answers = [
      await front.claim(id, { actionName: 'x' }),
      await front.claim(id, { ...email(), claimId: 'a b' }),
      await front.outcome(id, { outcome: 'succeeded' }),
      await front.outcome(id, { claimId, outcome: 'fine' }),
      await front.revoke(id, 'alice', ''),
      await front.call('POST', `/v1/requests/${id}/cancellation`, { as: 'support-bot' }, []),
      await front.ask('[]'),
      await front.ask('null'),
      await front.ask('{"runId":'),
      await front.decide(id, 'alice', ''),
    ];
    expect(codesOf(answers)).toEqual(answers.map(() => 'VALIDATION_FAILED'));
    expect(answers.map(({ body }) => body.detail)).toMatchObject([
      expect.stringContaining('/actionArgs'),
      expect.stringContaining('/claimId'),
      expect.stringContaining('/claimId'),
      expect.stringMatching(/\/outcome.*succeeded.*failed.*unknown/),
      expect.stringContaining('/note'),
      expect.stringContaining('object'),
      expect.stringContaining('object'),
      expect.stringContaining('object'),
      expect.stringContaining('line 1'),
      expect.any(String),
    ]);
  });

  test.each(['', 'two words', 'é', 'k'.repeat(129)])('the key %j is none', async (key) => {
    const answer = await front.ask(email({ runId: newRun() }), { key });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(answer.body.detail).toContain('Idempotency-Key is 1 to 128');
  });
});

describe('an id that is malformed is one that does not exist', () => {
  /** Looks like an id, so that only the tables know. */
  const mayBe = /^[A-Za-z0-9]{1,128}$/;
  const ids = ['x', 'A'.repeat(21), 'A'.repeat(23), '%20', '%00', '%F0%9F%99%82', '%FF', 'a%2Fb', 'A'.repeat(3000)];
  test.each(ids.map((id) => [id.slice(0, 30), id]))('%s', async (_, id) => {
    await front.zeroMeter();
    const answers = [
      await front.get(id),
      await front.decide(id, 'alice', { decision: 'reject', note: 'no' }),
      await front.revoke(id, 'alice'),
      await front.cancel(id),
      await front.claim(id, email()),
      await front.outcome(id, { claimId: 'x', outcome: 'failed' }),
      await front.audit(id),
      await front.verify(id),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    expect(codesOf(answers)).toEqual(answers.map(() => 'NOT_FOUND'));
    const looked = Object.keys((await front.meter()).functions).filter((name) => !['dispatch', 'sweep'].includes(name));
    expect(looked.toSorted()).toEqual(mayBe.test(id) ? ['decisions', 'reads', 'requests', 'wait'] : []);
  });
});

test("a run belongs to who asked first: another's question in it is a conflict that tells nothing of it", async () => {
  const runId = newRun();
  await asked(email({ runId, contextSummary: 'the summary 4711' }));
  const answer = await front.ask(email({ runId }), { as: 'billing-bot' });
  expect(answer).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  expect(JSON.stringify(answer.body)).not.toMatch(/4711|support-bot/);
  expect(await proven(front, runId)).toHaveLength(1);
});

describe('outcomes', () => {
  test('there is nothing to report before a claim, nor under another claim', async () => {
    const request = await asked(email({ runId: newRun() }));
    const report = (claimId: string) => front.outcome(request.requestId, { claimId, outcome: 'succeeded' });
    expect(codeOf(await report('x'))).toBe('CONFLICT');
    await front.approve(request, 'alice');
    expect(codeOf(await report('x'))).toBe('CONFLICT');
    await front.claim(request.requestId, { ...email(), claimId: 'mine' });
    expect(codeOf(await report('x'))).toBe('CONFLICT');
    expect(await report('mine')).toMatchObject({ status: 200, body: { outcome: 'succeeded', status: 'APPROVED' } });
  });

  test('what is unknown may be settled once; the same again is the same; another is a conflict', async () => {
    const runId = newRun();
    const { request, claimId } = await claimed(runId);
    const reports = ['unknown', 'unknown', 'failed', 'failed', 'succeeded', 'unknown'];
    const answers = await inTurn(reports, (outcome) =>
      front.outcome(request.requestId, { claimId, outcome, result: 7 }),
    );
    expect(codesOf(answers)).toEqual([200, 200, 200, 200, 'CONFLICT', 'CONFLICT']);
    expect(answers[4]?.body).toMatchObject({ status: 409, outcome: 'failed' });
    expect((await front.get(request.requestId)).body).toMatchObject({ outcome: 'failed', result: 7 });
    const types = (await proven(front, runId, request.requestId)).map(({ type }) => type);
    expect(types.filter((type) => type === 'outcome_reported')).toHaveLength(2);
  });
});

describe('taking back', () => {
  test('only a pending question is cancelled, once or twice the same', async () => {
    const request = await asked(email({ runId: newRun() }));
    const [first, again] = [await front.cancel(request.requestId), await front.cancel(request.requestId)];
    expect(first).toMatchObject({ status: 200, body: { status: 'CANCELLED', verdict: 'stop' } });
    // Its alert may leave between the two.
    expect(again.body).toEqual({ ...first.body, delivery: again.body.delivery });
    const late = await front.approve(request, 'alice');
    expect(late).toMatchObject({ status: 409, body: { code: 'ALREADY_DECIDED', cancelledBy: 'support-bot' } });

    const rejected = await asked(email({ runId: newRun() }));
    await front.reject(rejected.requestId, 'alice');
    const cancel = await front.cancel(rejected.requestId);
    expect(cancel).toMatchObject({ status: 409, body: { code: 'ALREADY_DECIDED', decision: { word: 'reject' } } });
  });

  test('only an approval is revoked, by who may decide, once or twice the same for its revoker', async () => {
    const runId = newRun();
    const request = await asked(email({ runId }));
    const { requestId } = request;
    expect(codeOf(await front.revoke(requestId, 'alice'))).toBe('NOT_APPROVED');
    await front.approve(request, 'alice');
    const [first, again] = [await front.revoke(requestId, 'frank'), await front.revoke(requestId, 'frank')];
    expect([first.status, again.body]).toEqual([200, { ...first.body, delivery: again.body.delivery }]);
    const other = await front.revoke(requestId, 'alice');
    expect(other).toMatchObject({ status: 409, body: { code: 'ALREADY_DECIDED', decision: { word: 'revoke' } } });
    const rejected = await asked(email({ runId }));
    await front.reject(rejected.requestId, 'alice');
    expect(codeOf(await front.revoke(rejected.requestId, 'alice'))).toBe('ALREADY_DECIDED');
    expect(await proven(front, runId, requestId, rejected.requestId)).toHaveLength(5);
  });

  test('the policy allows, and a person may still take that back before it is used', async () => {
    const read = { actionName: 'read_customer_record', actionArgs: { id: 1 } };
    const allowed = await asked({ ...read, runId: newRun() });
    expect(allowed).toMatchObject({ status: 'APPROVED', decision: { source: 'policy', decidedBy: [] } });
    expect((await front.revoke(allowed.requestId, 'alice')).body).toMatchObject({ status: 'REVOKED', verdict: 'stop' });
    expect(codeOf(await front.claim(allowed.requestId, read))).toBe('NOT_APPROVED');
  });
});

test('an escalated approver, an editor and a second vote keep to their rules', async () => {
  const request = await asked(refund(10, { runId: newRun() }));
  const edited = await front.decide(request.requestId, 'alice', {
    decision: 'edit',
    argsDigest: request.argsDigest,
    editedArgs: { amount: 9 },
  });
  expect(codeOf(await front.approve(edited.body, 'alice'))).toBe('SELF_APPROVAL');
  const same = { decision: 'edit', argsDigest: edited.body.effectiveDigest, editedArgs: { amount: 9 } };
  expect(codeOf(await front.decide(request.requestId, 'bob', same))).toBe('VALIDATION_FAILED');
  const after = await asked(refund(10, { runId: newRun(), phase: 'after' }));
  const late = { decision: 'edit', argsDigest: after.argsDigest, editedArgs: {} };
  expect(await front.decide(after.requestId, 'bob', late)).toMatchObject({
    status: 422,
    body: { code: 'EDIT_NOT_ALLOWED' },
  });
});
