import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { engineCredentials } from '../../local/aws-endpoint.ts';
import { codesOf, inTurn, times } from './answers.ts';
import { proven } from './evidence.ts';
import { type Answer, type Front, newRun } from './harness.ts';
import { startWith } from './known-people.ts';

const bots = times(12, (index) => `bot-${index}`);
const agents = Object.fromEntries(bots.map((name) => [name, { scopes: ['request'] as ['request'] }]));

const fields = (actionName: string, actionArgs: object, more: object = {}) => ({ actionName, actionArgs, ...more });
const matchedIn = ({ body }: Answer): string[] => body.policy.matched.map(({ ruleId }: { ruleId: string }) => ruleId);

describe('under a policy with windows', () => {
  let front: Front;
  let free = bots;
  /** An agent of its own for each test, so that nothing was counted before. */
  const nextBot = (): string => {
    const [bot = '', ...rest] = free;
    free = rest;
    return bot;
  };
  beforeAll(async () => {
    front = await startWith(agents, { deployment: { policyFile: 'test/service/policies/bounded.yaml' } });
  });
  afterAll(() => front?.stop());
  afterEach(() => front.clock(0));

  const pay = (as: string, amount: unknown, more: object = {}) =>
    front.ask(fields('pay', { amount }, { runId: newRun(), ...more }), { as });
  const refund = (as: string, amount: unknown, onBehalfOf?: string, runId = newRun()) =>
    front.ask(fields('refund', { amount }, { runId, ...(onBehalfOf && { onBehalfOf }) }), { as });

  test('ten requests of 90 under a limit of 500, all at once: five pass, in ten runs or in one', async () => {
    for (const runId of [newRun, () => undefined]) {
      const as = nextBot();
      const one = newRun();

      const answers = await Promise.all(times(10, (n) => pay(as, 90, { runId: runId() ?? one, metadata: { n } })));

      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
      const verdicts = answers.map(({ body }) => body.verdict);
      expect(verdicts.filter((verdict) => verdict === 'allow')).toHaveLength(5);
      expect(verdicts.filter((verdict) => verdict === 'stop')).toHaveLength(5);
      expect(answers.filter(({ body }) => body.verdict === 'stop').map(matchedIn)).toEqual(
        Array(5).fill(['paid-enough']),
      );
      expect((await pay(as, 50.01)).body.verdict).toBe('stop');
      expect((await pay(as, 50)).body.verdict).toBe('allow');
    }
  });

  test('sums are decimal: 490.1, nine times 0.1 and 9 are 500, and not a cent more', async () => {
    const as = nextBot();
    const runId = newRun();
    await pay(as, 490.1, { runId });
    await inTurn(
      times(9, (n) => n),
      (n) => pay(as, 0.1, { runId, metadata: { n } }),
    );
    expect((await pay(as, 9.01, { runId })).body.verdict).toBe('stop');
    expect((await pay(as, 9, { runId })).body.verdict).toBe('allow');
  });

  test('what is pending counts, and rejection, cancellation, revocation and time give it back', async () => {
    const as = nextBot();
    const ask = async () => (await refund(as, 400, as)).body;
    const isFree = async () => {
      const { body } = await refund(as, 500, as);
      if (body.verdict === 'pause') await front.cancel(body.requestId, as);
      return body.verdict === 'pause';
    };

    const rejected = await ask();
    expect(rejected.verdict).toBe('pause');
    expect(await isFree()).toBe(false);
    await front.reject(rejected.requestId, 'alice');
    expect(await isFree()).toBe(true);

    const approved = await ask();
    await front.approve(approved, 'alice');
    expect(await isFree()).toBe(false);
    await front.revoke(approved.requestId, 'alice');
    expect(await isFree()).toBe(true);

    const responded = await ask();
    await front.decide(responded.requestId, 'alice', {
      decision: 'respond',
      argsDigest: responded.effectiveDigest,
      response: 'no need',
    });
    expect(await isFree()).toBe(true);

    await ask();
    await front.clock(3601);
    await front.sweep();
    expect(await isFree()).toBe(true);
  });

  test('an edit moves what is reserved by the difference, and cannot go beyond the limit', async () => {
    const as = nextBot();
    const request = (await refund(as, 100, as)).body;
    const edit = (amount: number, argsDigest: string) =>
      front.decide(request.requestId, 'alice', { decision: 'edit', argsDigest, editedArgs: { amount } });
    expect(await edit(500.01, request.effectiveDigest)).toMatchObject({
      status: 422,
      body: { code: 'EDIT_NOT_ALLOWED' },
    });
    expect((await edit(480, request.effectiveDigest)).body).toMatchObject({
      status: 'APPROVED',
      effectiveArgs: { amount: 480 },
    });
    expect((await refund(as, 20.01, as)).body.verdict).toBe('stop');
    expect((await refund(as, 20, as)).body.verdict).toBe('pause');
    expect((await front.verify(request.runId)).body).toMatchObject({ intact: true });
  });

  test('a window ends: after a day the sum is free again, a minute before it is not', async () => {
    const as = nextBot();
    await pay(as, 450);
    await front.clock(24 * 3600 - 60);
    expect((await pay(as, 51)).body.verdict).toBe('stop');
    await front.clock(24 * 3600 + 24 * 60 + 60);
    expect((await pay(as, 500)).body.verdict).toBe('allow');
  });

  test('one subject’s window is not another’s, and every spelling of a name is the same subject', async () => {
    const as = nextBot();
    await refund(as, 400, 'Ada@Example.org');
    expect((await refund(as, 400, ' ada@example.ORG')).body.verdict).toBe('stop');
    expect((await refund(as, 400, 'bea@example.org')).body.verdict).toBe('pause');
  });

  test('a run’s window counts requests; another run begins anew', async () => {
    const runId = newRun();
    const mail = (n: number, run = runId) => front.ask(fields('mail', { n }, { runId: run }));
    expect((await inTurn([1, 2, 3], (n) => mail(n))).map(({ body }) => body.verdict)).toEqual([
      'allow',
      'allow',
      'pause',
    ]);
    expect((await mail(1, newRun())).body.verdict).toBe('allow');
  });

  test.each([
    ['"5"', '5'],
    ['nothing', undefined],
    ['a list', [5]],
    ['null', null],
    ['less than nothing', -400],
    ['1e300', 1e300],
  ])('a window that cannot be read for %s pauses, and never allows', async (_, amount) => {
    const answer = await pay('support-bot', amount);
    expect(answer.body).toMatchObject({ verdict: 'pause' });
    expect(matchedIn(answer)).toEqual(['paid-enough']);
  });

  test('a window by subject cannot be read where the agent acts for nobody', async () => {
    const answer = await refund('support-bot', 1);
    expect(answer.body).toMatchObject({
      verdict: 'pause',
      policy: { matched: [{ ruleId: 'refunded-enough', effect: 'pause' }] },
    });
    expect(answer.body.policy.matched[0].reason).toContain('could not be evaluated');
  });

  test('a create with a window takes one read more, without one none', async () => {
    const reads = async () => {
      const { requests = {} } = (await front.meter()).functions;
      await front.zeroMeter();
      return Object.fromEntries(
        Object.entries(requests as Record<string, { calls: number }>).map(([name, { calls }]) => [name, calls]),
      );
    };
    await front.ask(fields('look', {}, { runId: newRun() }));
    await front.zeroMeter();
    await front.ask(fields('look', {}, { runId: newRun() }));
    const without = await reads();
    await pay('support-bot', 1);
    expect(await reads()).toEqual({ ...without, BatchGetItem: (without.BatchGetItem ?? 0) + 1 });
    expect(without).toEqual({ Query: 1, BatchGetItem: 1, TransactWriteItems: 1 });
  });

  test('the audit says what was reserved', async () => {
    const as = nextBot();
    const { body } = await pay(as, 12.5);
    const [entry] = await proven(front, body.runId);
    expect(entry?.details.reserved).toEqual([{ window: 'paid', bucket: expect.any(Number), amount: '12.5' }]);
  });

  test('case 23: one cent less each time, until the run has asked as often as it may, and once more: stop, and people are told', async () => {
    const runId = newRun();
    const ask = (amount: number) => refund('support-bot', amount, 'case-23', runId);
    for (const amount of [400, 399.99, 399.98]) {
      const { body } = await ask(amount);
      expect(body.verdict).toBe('pause');
      await front.reject(body.requestId, 'alice');
    }

    const answers = await inTurn([399.97, 399.96], ask);

    expect(answers.map(({ body }) => [body.status, body.verdict, body.decision.source])).toEqual(
      Array(2).fill(['REJECTED', 'stop', 'policy']),
    );
    expect(answers[0]?.body.policy.matched).toEqual([
      { ruleId: 'maxAttempts', effect: 'stop', reason: expect.stringContaining('attempt 4') },
    ]);
    const requestId = answers[0]?.body.requestId;
    const escalations = await escalationsOf(front, runId);
    expect(escalations).toEqual([
      expect.objectContaining({
        trigger: 'repeated_failure',
        requestId,
        actionName: 'refund',
        missionId: 'default',
        openRole: 'support_manager',
        status: 'OPEN',
      }),
    ]);
    const entries = await proven(front, runId);
    expect(entries.map(({ details }) => details.escalationId).filter(Boolean)).toEqual([escalations[0]?.escalationId]);
    expect((await refund('support-bot', 1, 'case-23')).body.verdict, 'another run').toBe('pause');
    expect((await front.ask(fields('look', {}, { runId }))).body.verdict, 'another action').toBe('allow');
  });

  test('case 24: asked again as it was before a person edited it, the answer points at the edited request', async () => {
    const runId = newRun();
    const edited = (await refund('support-bot', 90, 'case-24', runId)).body;
    await front.decide(edited.requestId, 'alice', {
      decision: 'edit',
      argsDigest: edited.effectiveDigest,
      editedArgs: { amount: 45 },
    });

    const again = await refund('support-bot', 90, 'case-24', runId);

    expect(again.body).toMatchObject({ verdict: 'pause', editedEarlier: edited.requestId });
    expect(again.body.policy.matched).toEqual([
      { ruleId: 'editedEarlier', effect: 'pause', reason: expect.stringContaining(edited.requestId) },
    ]);
    const other = await refund('support-bot', 91, 'case-24', runId);
    expect(other.body).not.toHaveProperty('editedEarlier');
    const claim = await front.claim(edited.requestId, fields('refund', { amount: 45 }));
    expect(claim).toMatchObject({ status: 200, body: { effectiveArgs: { amount: 45 } } });
  });
});

describe('under a policy with caps', () => {
  let front: Front;
  beforeAll(async () => {
    front = await startWith(agents, { deployment: { policyFile: 'test/service/policies/capped.yaml' } });
  });
  afterAll(() => front?.stop());

  const send = (as: string, n: number, runId: string) => front.ask(fields('send', { n }, { runId }), { as });

  test('a run has so many requests that wait: the next is 429, until one is answered', async () => {
    const runId = newRun();
    const [first] = await inTurn([1, 2], (n) => send('bot-0', n, runId));
    const refused = await send('bot-0', 3, runId);
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_REQUESTS', maxPending: 2 } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send('bot-0', 2, runId)).status, 'the same question is no further one').toBe(200);
    expect((await front.ask(fields('look', {}, { runId }), { as: 'bot-0' })).status, 'what needs nobody').toBe(201);
    await front.reject(first?.body.requestId, 'alice');
    expect((await send('bot-0', 3, runId)).status).toBe(201);
  });

  test('of ten that an agent asks at once in ten runs three wait, and one more for each that is answered', async () => {
    const answers = await Promise.all(times(10, (n) => send('bot-1', n, newRun())));
    expect(codesOf(answers).sort()).toEqual([...Array(3).fill(201), ...Array(7).fill('TOO_MANY_REQUESTS')]);
    const waiting = answers.filter(({ status }) => status === 201).map(({ body }) => body);
    await front.approve(waiting[0], 'alice');
    await front.cancel(waiting[1].requestId, 'bot-1');
    const more = await inTurn([11, 12, 13], (n) => send('bot-1', n, newRun()));
    expect(codesOf(more)).toEqual([201, 201, 'TOO_MANY_REQUESTS']);
    expect((await send('bot-2', 1, newRun())).status, 'another agent').toBe(201);
  });

  test('a run makes so many requests; beyond it everything is stopped', async () => {
    const runId = newRun();
    const look = (n: number) => front.ask(fields('look', { n }, { runId }), { as: 'bot-3' });
    const answers = await inTurn([1, 2, 3, 4, 5, 6], look);
    expect(answers.map(({ body }) => body.verdict)).toEqual([...Array(5).fill('allow'), 'stop']);
    expect(answers.map(matchedIn).at(-1)).toEqual(['maxRequests']);
  });
});

describe('a question that equals one of its run that waits', () => {
  let front: Front;
  beforeAll(async () => {
    front = await startWith(agents, { deployment: { policyFile: 'test/service/policies/bounded.yaml' } });
  });
  afterAll(() => front?.stop());

  const ask = (runId: string, more: object = {}, key?: string) =>
    front.ask(fields('send', { to: 'ada' }, { runId, ...more }), key === undefined ? {} : { key });

  test('is that one: twelve at once make one request, which is 200 for all but the first', async () => {
    const runId = newRun();
    const answers = await Promise.all(times(12, () => ask(runId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.requestId)).size).toBe(1);
    expect(await proven(front, runId)).toHaveLength(1);
  });

  test('also one that was asked with a key; a key of its own makes it another', async () => {
    const runId = newRun();
    const keyed = await ask(runId, {}, `${runId}-1`);
    expect((await ask(runId)).body.requestId).toBe(keyed.body.requestId);
    const other = await ask(runId, {}, `${runId}-2`);
    expect(other.status).toBe(201);
    expect(other.body.requestId).not.toBe(keyed.body.requestId);
  });

  test('differs by anything that was said, by its run, and by its agent', async () => {
    const runId = newRun();
    const answers = [
      await ask(runId),
      await ask(runId, { contextSummary: 'please' }),
      await ask(runId, { onBehalfOf: 'ada' }),
      await ask(newRun()),
    ];
    expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(201));
  });

  test('is a new question once the other is answered, however', async () => {
    const runId = newRun();
    for (const answer of [
      (request: Answer['body']) => front.approve(request, 'alice'),
      (request: Answer['body']) => front.reject(request.requestId, 'alice'),
      (request: Answer['body']) => front.cancel(request.requestId),
    ]) {
      const first = await ask(runId);
      expect(first.status).toBe(201);
      expect((await ask(runId)).status).toBe(200);
      await answer(first.body);
    }
    expect((await ask(runId)).status).toBe(201);
  });
});

/** What the table of escalations holds of a run, past the API: nothing reads it yet. */
async function escalationsOf({ service }: Front, runId: string): Promise<Record<string, string | undefined>[]> {
  const { dynamodbUrl, template } = service;
  const client = new DynamoDBClient({
    endpoint: dynamodbUrl,
    region: template.region,
    credentials: engineCredentials,
  });
  const { Items = [] } = await client.send(new ScanCommand({ TableName: template.outputs.EscalationsTable }));
  client.destroy();
  return Items.map((item) =>
    Object.fromEntries(Object.entries(item).map(([name, value]) => [name, value.S ?? value.N])),
  ).filter((item) => item.runId === runId);
}
