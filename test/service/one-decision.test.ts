import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { codesOf, inTurn, times } from './answers.ts';
import { type Entry, exactlyOneDecision, proven } from './evidence.ts';
import { email, type Front, newRun, refund } from './harness.ts';
import { type Known, startWith } from './known-people.ts';

const person = (...roles: string[]): Known => ({ roles, scopes: ['decide'] });
const crowd = Array.from({ length: 50 }, (_, index) => `agent-${index}`);

let front: Front;
beforeAll(async () => {
  const known = {
    ...Object.fromEntries(crowd.map((name) => [name, person('support_agent')])),
    fay: person('finance'),
    finn: person('finance'),
    sid: person('security'),
  };
  front = await startWith(known, { deployment: { policyFile: 'test/service/policies/two-departments.yaml' } });
});
afterAll(() => front?.stop());
afterEach(async () => {
  await front.noFaults();
  await front.clock(0);
});

const asked = async (body: object) => (await front.ask(body)).body;
/** The scheduled sweep cannot read what is due, so that nothing but the deadline itself is at work. */
const noSweep = () =>
  front.faults([{ function: 'sweep', operation: 'Query', times: 1000, when: 'before', error: 'ThrottlingException' }]);

test('case 1: fifty people answer at once, half of them yes and half no: one decides, every other is told who', async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));

  const answers = await Promise.all(
    crowd.map((name, index) => (index % 2 ? front.approve(request, name) : front.reject(request.requestId, name))),
  );

  const winners = answers.filter(({ status }) => status === 200);
  expect(winners).toHaveLength(1);
  const { decision, status } = winners[0]?.body ?? {};
  expect(decision.decidedBy).toHaveLength(1);
  const { word, source, decidedBy, decidedAt } = decision;
  for (const loser of answers.filter((answer) => answer.status !== 200))
    expect(loser).toMatchObject({
      status: 409,
      body: { code: 'ALREADY_DECIDED', status: 409, decision: { word, source, decidedBy, decidedAt } },
    });
  const entries = await proven(front, runId, request.requestId);
  expect(entries.map(({ type }) => type)).toEqual([
    'request_created',
    status === 'APPROVED' ? 'request_approved' : 'request_rejected',
  ]);
  expect(entries[1]?.actor.id).toBe(decidedBy[0]);
});

test('case 1: two people answer 25 times each at once: the winner hears its own decision every time', async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));

  const answers = await Promise.all(
    times(50, (index) => (index % 2 ? front.approve(request, 'alice') : front.reject(request.requestId, 'frank'))),
  );

  const { decision } = (await front.get(request.requestId)).body;
  const byWinner = decision.word === 'approve' ? 1 : 0;
  expect(codesOf(answers)).toEqual(times(50, (index) => (index % 2 === byWinner ? 200 : 'ALREADY_DECIDED')));
  await proven(front, runId, request.requestId);
});

test('case 1: the check of one decision notices two, and none', () => {
  const entry = { requestId: 'r', actor: { kind: 'person', id: 'alice' }, details: {} };
  const created: Entry = { ...entry, sequence: 1, type: 'request_created' };
  const approved: Entry = { ...entry, sequence: 2, type: 'request_approved' };
  const cancelled: Entry = { ...entry, sequence: 3, type: 'request_cancelled' };
  expect(exactlyOneDecision([created, approved], 'r')).toBe(approved);
  expect(() => exactlyOneDecision([created, approved, cancelled], 'r')).toThrow('2 decisions');
  expect(() => exactlyOneDecision([created], 'r')).toThrow('0 decisions');
});

test('case 2: the same vote again is the same answer; another word of the same person is a conflict', async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));
  const first = await front.approve(request, 'alice');

  const again = await front.approve(request, 'alice');
  const otherWord = await front.reject(request.requestId, 'alice');

  expect([again.status, again.body]).toEqual([200, first.body]);
  expect(otherWord).toMatchObject({ status: 409, body: { code: 'VOTE_CONFLICT', decision: { word: 'approve' } } });
  expect(await proven(front, runId, request.requestId)).toHaveLength(2);

  const refused = await asked(email({ runId }));
  const no = await front.reject(refused.requestId, 'alice', 'too early');
  expect((await front.reject(refused.requestId, 'alice', 'too early')).body).toEqual(no.body);
  expect((await front.approve(refused, 'alice')).body.code).toBe('VOTE_CONFLICT');
});

test('case 3: after the deadline, with no sweep, a vote is late: audited once by that person, and no approval', async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));
  await noSweep();
  await front.clock(1801);

  const vote = await front.approve(request, 'alice');
  const again = await front.approve(request, 'alice');
  const claim = await front.claim(request.requestId, email());

  for (const late of [vote, again, claim])
    expect(late).toMatchObject({ status: 410, body: { code: 'DEADLINE_PASSED', deadline: request.deadline } });
  expect((await front.get(request.requestId)).body).toMatchObject({ status: 'PENDING', votes: [] });
  const entries = await proven(front, runId);
  expect(entries.slice(1).map(({ type, actor, details }) => [type, actor.id, details.attempted])).toEqual([
    ['late_attempt', 'alice', 'approve'],
    ['late_attempt', 'support-bot', 'claim'],
  ]);
});

test('case 3: an approval that nobody claimed in time is late for the claim, with no sweep', async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));
  const { claimBy } = (await front.approve(request, 'alice')).body;
  await noSweep();
  await front.clock(3601);
  const claim = await front.claim(request.requestId, email());
  expect(claim).toMatchObject({ status: 410, body: { code: 'DEADLINE_PASSED', deadline: claimBy } });
  expect((await front.get(request.requestId)).body.claim).toBeUndefined();
  expect((await proven(front, runId, request.requestId)).at(-1)).toMatchObject({ type: 'late_attempt' });
});

test("case 4: a person rejects between the sweep's read and its write: the rejection stands", async () => {
  const runId = newRun();
  const request = await asked(email({ runId }));
  await front.faults([
    { function: 'sweep', operation: 'TransactWriteItems', times: 1000, when: 'before', error: 'TransactionConflict' },
  ]);
  await front.clock(1801);
  const sweep = front.sweep();
  await expect
    .poll(async () => (await front.control('GET', '/faults'))[0].times, { timeout: 30_000 })
    .toBeLessThan(1000);

  await front.clock(0);
  expect((await front.reject(request.requestId, 'alice', 'not this one')).status).toBe(200);
  await front.noFaults();

  expect(await sweep).toMatchObject({ failed: [] });
  expect((await front.get(request.requestId)).body).toMatchObject({
    status: 'REJECTED',
    decision: { source: 'human', decidedBy: ['alice'], note: 'not this one' },
  });
  await proven(front, runId, request.requestId);
});

test('case 4: twelve people and three sweeps meet at the deadline: each question ends once, and everybody hears how', async () => {
  const runs = times(12, newRun);
  const requests = await inTurn(runs, (runId) => asked(email({ runId })));
  const first = Math.min(...requests.map(({ deadline }) => Date.parse(deadline)));
  await front.clock((first - Date.now() - 60) / 1000);

  const [answers] = await Promise.all([
    Promise.all(requests.map(({ requestId }) => front.reject(requestId, 'alice'))),
    ...times(3, async () => {
      await front.sweep();
      await front.sweep();
    }),
  ]);
  await front.clock(1900);
  await front.sweep();

  const ends = await inTurn(requests, async ({ requestId }) => (await front.get(requestId)).body);
  for (const [index, { status, decision }] of ends.entries())
    expect([answers[index]?.status, decision.decidedBy]).toEqual(status === 'REJECTED' ? [200, ['alice']] : [410, []]);
  await inTurn(requests, ({ runId, requestId }) => proven(front, runId, requestId));
});

test('case 5: both first votes of a dual approval land together: two votes, approved, never stuck at one', async () => {
  const requests = await inTurn(times(6, newRun), (runId) => asked(refund(250, { runId })));

  await Promise.all(requests.flatMap((request) => [front.approve(request, 'alice'), front.approve(request, 'bob')]));

  for (const { runId, requestId } of requests) {
    const { status, votes, decision } = (await front.get(requestId)).body;
    expect([status, votes.length, decision.decidedBy.toSorted()]).toEqual(['APPROVED', 2, ['alice', 'bob']]);
    await proven(front, runId, requestId);
  }
});

test('case 5: the same person votes ten times at once: it counts once', async () => {
  const runId = newRun();
  const request = await asked(refund(250, { runId }));

  const answers = await Promise.all(times(10, () => front.approve(request, 'alice')));

  expect(codesOf(answers)).toEqual(times(10, () => 200));
  expect((await front.get(request.requestId)).body).toMatchObject({
    status: 'PENDING',
    votes: [{ approver: 'alice' }],
  });
  expect((await front.get(request.requestId)).body.votes).toHaveLength(1);
  expect((await proven(front, runId)).map(({ type }) => type)).toEqual(['request_created', 'vote_recorded']);
});

test('case 6: one of finance and one of security: two of finance are not enough', async () => {
  const runId = newRun();
  const request = await asked({ runId, actionName: 'pay_supplier', actionArgs: { amount: 9000 } });

  await front.approve(request, 'fay');
  const second = await front.approve(request, 'finn');

  expect(second.body).toMatchObject({ status: 'PENDING', awaits: ['security'] });
  const third = await front.approve(request, 'sid');
  expect(third.body).toMatchObject({ status: 'APPROVED', decision: { decidedBy: ['fay', 'sid'] } });
  await proven(front, runId, request.requestId);
});

test('case 7: approve and cancel race: one of them holds, and what was cancelled is never claimed', async () => {
  const requests = await inTurn(times(8, newRun), (runId) => asked(email({ runId })));

  const answers = await Promise.all(
    requests.map((request, index) =>
      Promise.all(
        index % 2
          ? [front.approve(request, 'alice'), front.cancel(request.requestId)]
          : [front.cancel(request.requestId), front.approve(request, 'alice')].reverse(),
      ),
    ),
  );

  for (const [index, { requestId, runId }] of requests.entries()) {
    const { status } = (await front.get(requestId)).body;
    const cancelled = status === 'CANCELLED';
    expect(codesOf(answers[index] ?? [])).toEqual(cancelled ? ['ALREADY_DECIDED', 200] : [200, 'ALREADY_DECIDED']);
    expect(codesOf([await front.claim(requestId, email())])).toEqual([cancelled ? 'NOT_APPROVED' : 200]);
    await proven(front, runId, requestId);
  }
});
