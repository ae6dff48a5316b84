import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { stateKey } from '../../adapters/dynamodb/items.ts';
import { createStore } from '../../adapters/dynamodb/store.ts';
import { openEntry } from '../../core/audit-chain.ts';
import type { EntryType } from '../../core/audit-entry.ts';
import { claimRequest } from '../../core/use-cases/claim-request.ts';
import type { FaultRule } from '../../local/faults.ts';
import { type Answer, email, Front, newRun } from './harness.ts';
import { behind, inParallel, laterWorld, seedDue } from './tables.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start({ deployment: { sweepMinutes: 60 } });
  await front.stream(false);
});
afterAll(() => front.stop());
afterEach(() => front.noFaults());

interface Asked {
  runId: string;
  requestId: string;
  effectiveDigest: string;
  claimId?: string;
}

/** One way to change a request: what has to be before, the call, and what it leaves. */
interface Operation {
  function: 'requests' | 'decisions';
  entry: EntryType;
  given(): Promise<Asked>;
  call(given: Asked): Promise<Answer>;
  /** What only the caller whose change it was is told. */
  own: object;
  status: 200 | 201;
}

const sending = { actionName: email().actionName, actionArgs: email().actionArgs };

async function ok(call: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await call;
  if (status !== 200 && status !== 201) throw new Error(`given: ${status} ${JSON.stringify(body)}`);
  return body;
}
const givenAsked = (): Promise<Asked> => ok(front.ask(email({ runId: newRun() })));
async function givenApproved(): Promise<Asked> {
  const asked = await givenAsked();
  await ok(front.approve(asked, 'alice'));
  return asked;
}

const operations: Readonly<Record<string, Operation>> = {
  'create with a key': {
    function: 'requests',
    entry: 'request_created',
    given: async () => ({ runId: newRun(), requestId: '', effectiveDigest: '' }),
    call: ({ runId }) => front.ask(email({ runId }), { key: runId }),
    own: { status: 'PENDING', version: 1 },
    status: 201,
  },
  'create without a key': {
    function: 'requests',
    entry: 'request_created',
    given: async () => ({ runId: newRun(), requestId: '', effectiveDigest: '' }),
    call: ({ runId }) => front.ask(email({ runId })),
    own: { status: 'PENDING', version: 1 },
    status: 201,
  },
  decide: {
    function: 'decisions',
    entry: 'request_approved',
    given: givenAsked,
    call: (asked) => front.approve(asked, 'alice'),
    own: { status: 'APPROVED', version: 2, decision: { decidedBy: ['alice'] } },
    status: 200,
  },
  'claim without an id': {
    function: 'requests',
    entry: 'approval_claimed',
    given: givenApproved,
    call: ({ requestId }) => front.claim(requestId, sending),
    own: { effectiveArgs: sending.actionArgs },
    status: 200,
  },
  outcome: {
    function: 'requests',
    entry: 'outcome_reported',
    given: async () => {
      const approved = await givenApproved();
      return { ...approved, claimId: (await ok(front.claim(approved.requestId, sending))).claimId };
    },
    call: ({ requestId, claimId }) => front.outcome(requestId, { claimId, outcome: 'succeeded' }),
    own: { outcome: 'succeeded', version: 4 },
    status: 200,
  },
};

async function entriesOf(runId: string, type: EntryType): Promise<number> {
  const chain = await createStore(behind(front)).entries(runId, 0, 100);
  return chain.map(openEntry).filter((entry) => entry.type === type).length;
}

/** How often the SDK tries one call, and once more. */
const asOftenAsTheSdk = 4;
const outlasting = asOftenAsTheSdk + 1;

type Mishap = Pick<FaultRule, 'when' | 'error' | 'times'>;
const refusedWrites: Mishap[] = [
  { error: 'TransactionConflict', when: 'before', times: 1 },
  { error: 'TransactionConflict', when: 'before', times: outlasting },
  { error: 'ThrottlingException', when: 'before', times: 1 },
  { error: 'ProvisionedThroughputExceededException', when: 'before', times: 1 },
];
const lostWrites: Mishap[] = [
  { error: 'InternalServerError', when: 'before', times: outlasting },
  { error: 'InternalServerError', when: 'after', times: 1 },
  { error: 'InternalServerError', when: 'after', times: asOftenAsTheSdk },
  { error: 'socket', when: 'after', times: 1 },
  { error: 'socket', when: 'after', times: asOftenAsTheSdk },
  { error: 'socket', when: 'before', times: 1 },
];
const told = ({ error, when, times }: Mishap) => `${error} ${when} applying, ${times} times`;

describe.each(Object.entries(operations))('case 59: %s', (_, operation) => {
  async function survives(rule: Omit<FaultRule, 'function'>, name: string): Promise<void> {
    const given = await operation.given();
    await front.faults([{ ...rule, function: operation.function }]);
    const { status, body } = await operation.call(given);
    expect([name, (await front.control('GET', '/faults')) as FaultRule[]]).toEqual([name, []]);
    expect([name, status, body]).toEqual([name, operation.status, expect.objectContaining({})]);
    expect(body, name).toMatchObject(operation.own);
    expect([name, await entriesOf(given.runId, operation.entry)]).toEqual([name, 1]);
    expect((await front.verify(given.runId)).body, name).toMatchObject({ intact: true });
  }

  test.each([...refusedWrites, ...lostWrites].map((mishap) => [told(mishap), mishap] as const))(
    'its transaction meets %s: the caller gets its own change back, made once',
    (name, mishap) => survives({ ...mishap, operation: 'TransactWriteItems' }, name),
  );

  test('each of its reads fails once, refused or lost: as if nothing had been', async () => {
    for (const skip of [0, 1])
      for (const error of ['ThrottlingException', 'InternalServerError', 'socket'] as const)
        await survives({ error, when: 'before', times: 1, skip }, `${error} at call ${skip + 1}`);
  });

  test.each(['ThrottlingException', 'InternalServerError'] as const)(
    'its reads meet %s for longer than the SDK tries: 429 with Retry-After, nothing changed, and then it works',
    async (error) => {
      const given = await operation.given();
      await front.faults([{ function: operation.function, error, when: 'before', times: asOftenAsTheSdk }]);
      const refused = await operation.call(given);
      expect([refused.status, refused.body.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await entriesOf(given.runId, operation.entry)).toBe(0);
      expect((await operation.call(given)).status).toBe(operation.status);
      expect(await entriesOf(given.runId, operation.entry)).toBe(1);
    },
  );
});

test('case 59: an answer that takes too long is given up, and the change is the caller’s all the same', async () => {
  const asked = await givenAsked();
  await front.faults([
    { function: 'decisions', operation: 'TransactWriteItems', error: 'timeout', when: 'after', times: 1 },
  ]);
  const { status, body } = await front.approve(asked, 'alice');
  expect([status, body.status]).toEqual([200, 'APPROVED']);
  expect(await entriesOf(asked.runId, 'request_approved')).toBe(1);
});

test('case 59: every read of people and agents is 429 with Retry-After while the store does not answer', async () => {
  const { requestId, runId } = await givenAsked();
  const reads: [name: string, call: () => Promise<Answer>][] = [
    ['wait', () => front.get(requestId)],
    ['reads', () => front.call('GET', `/v1/requests?runId=${runId}`, { as: 'support-bot' })],
    ['reads', () => front.call('GET', '/v1/requests?status=PENDING&role=support_agent', { as: 'alice' })],
    ['reads', () => front.call('GET', '/v1/requests?status=APPROVED', { as: 'dave' })],
    ['reads', () => front.audit(runId)],
    ['reads', () => front.verify(runId)],
  ];
  await inParallel(reads, async ([, call]) => expect((await call()).status).toBe(200));
  for (const [name, call] of reads) {
    await front.faults([{ function: name, error: 'InternalServerError', when: 'before', times: 100 }]);
    const answer = await call();
    expect([name, answer.status, answer.headers.get('retry-after')]).toEqual([name, 429, '1']);
  }
  await front.faults([{ function: 'pages', error: 'InternalServerError', when: 'before', times: 100 }]);
  const cookie = `__Host-countersign=${front.urls.tokens.alice}`;
  expect((await fetch(`${front.urls.apiUrl}/r/${requestId}`, { headers: { cookie } })).status).toBe(429);
});

test('case 59: the sweep goes on through refused and lost calls: one entry for each, and what failed is done by the next', async () => {
  const mishaps: Omit<FaultRule, 'function'>[] = [
    ...[...refusedWrites, ...lostWrites].map((mishap) => ({ ...mishap, operation: 'TransactWriteItems' })),
    ...[0, 4, 5].map((skip) => ({ error: 'ThrottlingException', when: 'before', times: 1, skip }) as const),
    { error: 'ThrottlingException', when: 'before', times: outlasting, operation: 'Query' },
    { error: 'InternalServerError', when: 'before', times: outlasting, operation: 'Query', skip: 4 },
  ];
  for (const rule of mishaps) {
    const requestId = await seedDue(front);
    await front.faults([{ ...rule, function: 'sweep' }]);
    await front.sweep();
    await front.noFaults();
    await front.sweep();
    const state = await createStore(behind(front)).readState(requestId);
    expect([rule, state?.status]).toEqual([rule, 'TIMED_OUT']);
    expect([rule, await entriesOf(state?.runId ?? '', 'request_timed_out')]).toEqual([rule, 1]);
  }
});

test('case 59: a store that takes a lost acknowledgement for a lost race is caught: the agent is refused its own claim', async () => {
  const { requestId } = await givenApproved();
  const store = createStore(behind(front));
  const commit: typeof store.commit = async (change, until) => {
    await store.commit(change, until);
    return 'conflict';
  };
  const principal = { id: 'support-bot', aliases: [], roles: [], scopes: ['request' as const] };
  const naive = claimRequest(
    { store: { ...store, commit }, world: laterWorld(0) },
    { requestId, body: sending, principal, until: Date.now() + 5_000 },
  );
  await expect(naive).rejects.toMatchObject({ code: 'ALREADY_CLAIMED' });
});

test('case 60: of 40 stream records with one bad, 39 are done and one is reported', async () => {
  const asked = await inParallel(Array.from({ length: 40 }), givenAsked);
  const store = createStore(behind(front));
  const bad = asked[17];
  if (!bad) throw new Error('given');
  const Records = await inParallel(asked, async ({ runId }) => {
    const [entry] = await store.entries(runId, 0, 1);
    const NewImage = {
      runId: { S: runId },
      sequence: { N: '1' },
      entry: { S: entry?.canonical },
      hash: { S: entry?.hash },
    };
    return { eventName: 'INSERT', dynamodb: { SequenceNumber: `number-of-${runId}`, NewImage } };
  });
  const { client, requestsTable } = behind(front);
  const setVersion = (version: unknown) =>
    client.send(
      new UpdateCommand({
        TableName: requestsTable,
        Key: stateKey(bad.requestId),
        UpdateExpression: 'SET version = :version',
        ExpressionAttributeValues: { ':version': version },
      }),
    );
  const notDelivered = async () => {
    const views = await inParallel(asked, async ({ requestId }) => (await front.get(requestId)).body);
    return views.filter(({ delivery }) => delivery.owed.length > 0).map(({ requestId }) => requestId);
  };

  await setVersion('one');
  expect(await front.control('POST', '/invoke/dispatch', { Records })).toEqual({
    batchItemFailures: [{ itemIdentifier: `number-of-${bad.runId}` }],
  });
  await setVersion(1);
  expect(await notDelivered()).toEqual([bad.requestId]);

  expect(await front.control('POST', '/invoke/dispatch', { Records })).toEqual({ batchItemFailures: [] });
  expect(await notDelivered()).toEqual([]);
  for (const { requestId } of asked) expect(await front.messages(requestId)).toHaveLength(3);
});

test('case 60: through the stream itself: whoever stands behind the bad record is served', async () => {
  const before = await givenAsked();
  const [bad, behindIt] = [await givenAsked(), await givenAsked()];
  const { client, requestsTable } = behind(front);
  const spoiled = new UpdateCommand({
    TableName: requestsTable,
    Key: stateKey(bad.requestId),
    UpdateExpression: 'REMOVE version',
  });
  await client.send(spoiled);
  await front.stream(true);
  try {
    for (const { requestId } of [before, behindIt])
      await expect.poll(async () => (await front.get(requestId)).body.delivery.owed, { timeout: 20_000 }).toEqual([]);
    expect(await front.messages(bad.requestId, 0)).toEqual([]);
  } finally {
    await front.stream(false);
  }
});
