import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { codesOf, inTurn, times } from './answers.ts';
import { proven } from './evidence.ts';
import { email, Front, newRun } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start();
});
afterAll(() => front?.stop());
afterEach(() => front.clock(0));

const asked = async (body: object) => (await front.ask(body)).body;
const newKey = newRun;

/** What an answer took, in milliseconds. */
async function timed<Result>(work: Promise<Result>): Promise<{ result: Result; took: number }> {
  const start = performance.now();
  const result = await work;
  return { result, took: performance.now() - start };
}

describe('case 21: a create is retried', () => {
  test('case 21: with the same key it is the same request, also when it was decided meanwhile', async () => {
    const [runId, key] = [newRun(), newKey()];
    const first = await front.ask(email({ runId }), { key });
    const second = await front.ask(email({ runId, missionId: 'default', phase: 'before' }), { key });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body.requestId).toBe(first.body.requestId);

    await front.approve(first.body, 'alice');
    const third = await front.ask(email({ runId }), { key });
    expect(third).toMatchObject({ status: 200, body: { requestId: first.body.requestId, verdict: 'allow' } });
    expect((await proven(front, runId, first.body.requestId)).map(({ type }) => type)).toEqual([
      'request_created',
      'request_approved',
    ]);
  });

  const others: [string, object][] = [
    ['an argument', { actionArgs: { to: 'x@y.example' } }],
    ['the run', { runId: 'another-run' }],
    ['the summary only', { contextSummary: 'new words' }],
    ['the metadata only', { metadata: { ticket: 2 } }],
  ];
  test.each(others)('case 21: another body (%s) is refused, with nothing of the old one', async (_, change) => {
    const [runId, key] = [newRun(), newKey()];
    const old = { contextSummary: 'old summary 4711', metadata: { ticket: 'old ticket 4711' } };
    const actionArgs = { to: 'old-4711@customer.example' };
    await front.ask(email({ runId, actionArgs, ...old }), { key });

    const { status, body } = await front.ask(email({ runId, actionArgs, ...old, ...change }), { key });

    expect([status, body.code]).toEqual([422, 'IDEMPOTENCY_CONFLICT']);
    expect(JSON.stringify(body)).not.toContain('4711');
    expect(Object.keys(body).toSorted()).toEqual(['code', 'detail', 'requestId', 'status', 'title', 'type']);
    expect(await proven(front, runId)).toHaveLength(1);
  });

  test('case 21: the same key of another agent is unrelated', async () => {
    const key = newKey();
    const one = await front.ask(email({ runId: newRun() }), { key });
    const other = await front.ask(email({ runId: newRun() }), { key, as: 'billing-bot' });
    expect([one.status, other.status]).toEqual([201, 201]);
    expect(other.body.requestId).not.toBe(one.body.requestId);
    expect(other.body.requestedBy).toBe('billing-bot');
  });

  test('case 21: without a header the occurrence of a step is the key; without either an equal one that waits is the same', async () => {
    const step = email({ runId: newRun(), occurrenceId: 'step-3' });
    const [first, second] = [await front.ask(step), await front.ask(step)];
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body.requestId).toBe(first.body.requestId);
    expect(codesOf([await front.ask({ ...step, contextSummary: 'other' })])).toEqual(['IDEMPOTENCY_CONFLICT']);
    const after = await front.ask({ ...step, phase: 'after' });
    expect(after.status).toBe(201);
    const once = email({ runId: newRun() });
    const waiting = await asked(once);
    expect((await asked(once)).requestId).toBe(waiting.requestId);
    await front.cancel(waiting.requestId);
    expect((await asked(once)).requestId).not.toBe(waiting.requestId);
  });
});

test('case 22: 64 creates with one key at once are one request', async () => {
  const [runId, key] = [newRun(), newKey()];

  const answers = await Promise.all(times(64, () => front.ask(email({ runId }), { key })));

  expect(codesOf(answers).toSorted()).toEqual([...times(63, () => 200), 201]);
  expect(new Set(answers.map(({ body }) => body.requestId)).size).toBe(1);
  expect((await proven(front, runId)).map(({ type }) => type)).toEqual(['request_created']);
});

describe('case 25: waiting for the answer', () => {
  test('case 25: a decision that is there already is answered at once', async () => {
    const request = await asked(email({ runId: newRun() }));
    await front.approve(request, 'alice');
    const { result, took } = await timed(front.get(request.requestId, 'support-bot', '?wait=20'));
    expect(result.body).toMatchObject({ status: 'APPROVED', verdict: 'allow' });
    expect(took).toBeLessThan(5000);
  });

  test('case 25: a wait ends as soon as a decision lands, whichever it is', async () => {
    const requests = await inTurn(times(3, newRun), (runId) => asked(email({ runId })));
    const [approved, rejected, cancelled] = requests;
    const waits = requests.map(({ requestId }) => timed(front.get(requestId, 'support-bot', '?wait=20')));
    await Promise.all([
      front.approve(approved, 'alice'),
      front.reject(rejected.requestId, 'alice'),
      front.cancel(cancelled.requestId),
    ]);
    const ended = await Promise.all(waits);
    expect(ended.map(({ result }) => result.body.status)).toEqual(['APPROVED', 'REJECTED', 'CANCELLED']);
    expect(Math.max(...ended.map(({ took }) => took))).toBeLessThan(15_000);
  });

  test('case 25: a vote that decides nothing yet does not end a wait; when its seconds are over the question is still open', async () => {
    const request = await asked({ ...email({ runId: newRun() }), actionName: 'issue_refund' });
    const waiting = timed(front.get(request.requestId, 'support-bot', '?wait=2'));
    await front.approve(request, 'alice');
    const { result, took } = await waiting;
    expect(result).toMatchObject({ status: 200, body: { status: 'PENDING', verdict: 'pause' } });
    expect(took).toBeGreaterThanOrEqual(2000);
  });

  test('case 25: a wait of one second lasts one second', async () => {
    const { requestId } = await asked(email({ runId: newRun() }));
    const { result, took } = await timed(front.get(requestId, 'support-bot', '?wait=1'));
    expect(result.body.status).toBe('PENDING');
    expect(took).toBeGreaterThanOrEqual(1000);
  });

  test.each(['0', '21', 'x', '', '-1', '1.5', '01', '1e1'])(
    '?wait=%s is refused, with what is allowed',
    async (wait) => {
      const { requestId } = await asked(email({ runId: newRun() }));
      const { status, body } = await front.get(requestId, 'support-bot', `?wait=${wait}`);
      expect([status, body.code]).toEqual([400, 'VALIDATION_FAILED']);
      expect(body.detail).toMatch(/\/wait: .*from 1 to 20/);
    },
  );
});

test('case 28: of three pending and two decided, the list of the pending of the run shows exactly the three', async () => {
  const runId = newRun();
  const requests = await inTurn([0, 1, 2, 3, 4], (n) => asked(email({ runId, actionArgs: { n } })));
  const ids = requests.map(({ requestId }) => requestId);
  await front.approve(requests[1], 'alice');
  await front.reject(ids[3], 'alice');

  const pending = await front.call('GET', `/v1/requests?runId=${runId}&status=PENDING`, { as: 'support-bot' });

  const listed = pending.body.items.map(({ requestId }: { requestId: string }) => requestId);
  expect(listed.toSorted()).toEqual([ids[0], ids[2], ids[4]].toSorted());
  expect(pending.body.cursor).toBeUndefined();
  const approved = await front.call('GET', `/v1/requests?runId=${runId}&status=APPROVED`, { as: 'support-bot' });
  expect(approved.body.items).toMatchObject([{ requestId: ids[1], status: 'APPROVED', verdict: 'allow', runId }]);
  const all = await front.call('GET', `/v1/requests?runId=${runId}`, { as: 'alice' });
  expect(all.body.items).toHaveLength(5);
});
