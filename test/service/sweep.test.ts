import { DeleteCommand, PutCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { stateItem, stateKey } from '../../adapters/dynamodb/items.ts';
import { createStore } from '../../adapters/dynamodb/store.ts';
import { parts } from '../../adapters/dynamodb/tables.ts';
import type { Instant } from '../../core/instant.ts';
import type { PendingState, RequestState } from '../../core/request.ts';
import { sweepTimeouts } from '../../core/use-cases/sweep-timeouts.ts';
import type { Counts, MeterSnapshot } from '../../local/meter.ts';
import { newId, pendingState } from '../store/requests.ts';
import { Front, newRun } from './harness.ts';
import { asFunction, behind, inParallel, laterWorld, seedDue, seedManyDue, seedPending } from './tables.ts';

const policyFile = 'test/service/policies/timeouts.yaml';
/** Every action of that policy that has a timeout of its own has this one. */
const timeoutSeconds = 600;

let front: Front;
let offset = 0;
beforeAll(async () => {
  front = await Front.start({ deployment: { policyFile, sweepMinutes: 60 } });
});
afterAll(() => front.stop());
beforeEach(() => front.stream(true));
afterEach(() => front.noFaults());

/** Time only goes on, so that what an earlier test has left stays as it was left. */
async function pass(seconds: number): Promise<void> {
  offset += seconds;
  await front.clock(offset);
}

const many = (count: number) => Array.from({ length: count });

const closing = (runId: string) => ({ runId, actionName: 'close_ticket', actionArgs: { ticket: 'T-1' } });
const pricing = (runId: string) => ({ runId, actionName: 'change_price', actionArgs: { price: 12 } });
const reminding = (runId: string) => ({ runId, actionName: 'send_reminder', actionArgs: { to: 'ada' } });

async function asked(body: object): Promise<string> {
  const { status, body: request } = await front.ask(body);
  expect(status).toBe(201);
  return request.requestId;
}

const viewed = async (requestId: string) => (await front.get(requestId)).body;
const delivered = (requestId: string, id: string) =>
  expect.poll(async () => (await viewed(requestId)).delivery.delivered[id], { timeout: 15_000 }).toBeDefined();
const typesIn = async (runId: string): Promise<string[]> =>
  (await front.audit(runId)).body.items.map(({ type }: { type: string }) => type);

const stateOf = async (requestId: string): Promise<RequestState> => {
  const state = await createStore(behind(front)).readState(requestId);
  if (!state) throw new Error(`${requestId} is not stored`);
  return state;
};

test('case 30: who is asked next does not answer either: the next, then TIMED_OUT; each level is asked once', async () => {
  const runId = newRun();
  const requestId = await asked(pricing(runId));
  await delivered(requestId, 'asked-0-support_manager');

  await pass(timeoutSeconds);
  await front.sweep();
  await delivered(requestId, 'escalated-1-senior_manager');
  const first = await viewed(requestId);
  expect(first).toMatchObject({ status: 'PENDING', level: 1, awaits: ['senior_manager'] });
  expect(
    Date.parse(first.deadline) - Date.parse(first.delivery.delivered['escalated-1-senior_manager']),
  ).toBeGreaterThan((timeoutSeconds - 60) * 1000);
  expect((await front.approve(first, 'bob')).body.code).toBe('NOT_AN_APPROVER');
  await front.sweep();
  expect((await viewed(requestId)).level).toBe(1);

  await pass(timeoutSeconds);
  await front.sweep();
  await delivered(requestId, 'escalated-2-support_agent');
  expect(await viewed(requestId)).toMatchObject({ status: 'PENDING', level: 2, awaits: ['support_agent'] });

  await pass(timeoutSeconds);
  await front.sweep();
  expect(await viewed(requestId)).toMatchObject({ status: 'TIMED_OUT', verdict: 'stop', level: 2 });
  expect(await typesIn(runId)).toEqual([
    'request_created',
    'request_escalated',
    'request_escalated',
    'request_timed_out',
  ]);
  const mails = (await front.messages(requestId)).filter(({ channel }) => channel === 'email');
  expect(mails.map(({ to, role, kind }) => `${kind} ${role} ${to}`).sort()).toEqual([
    'asked support_manager alice@example.org',
    'asked support_manager bob@example.org',
    'escalated senior_manager carol@example.org',
    'escalated senior_manager frank@example.org',
    'escalated support_agent alice@example.org',
    'escalated support_agent frank@example.org',
  ]);
});

const sweepCounts = async (): Promise<Record<string, Counts>> => {
  const { functions }: MeterSnapshot = await front.meter();
  return functions.sweep ?? {};
};
const itemsRead = (counts: Record<string, Counts>): number =>
  Object.values(counts).reduce(
    (sum, { itemsReturned, itemsScanned }) => sum + Math.max(itemsReturned, itemsScanned),
    0,
  );

/** What a sweep with ten due reads. */
async function itemsReadForTenDue(): Promise<number> {
  const ids = await Promise.all(Array.from({ length: 10 }, () => asked(closing(newRun()))));
  for (const id of ids) await delivered(id, 'asked-0-support_agent');
  await pass(timeoutSeconds);
  await front.zeroMeter();
  expect(await front.sweep()).toEqual({ handled: 10, failed: [] });
  return itemsRead(await sweepCounts());
}

/** What a sweep with nothing due costs. */
async function idleCosts() {
  await front.zeroMeter();
  expect(await front.sweep()).toEqual({ handled: 0, failed: [] });
  return Object.entries(await sweepCounts()).map(([operation, { calls, itemsReturned, itemsScanned }]) => {
    return { operation, calls, itemsReturned, itemsScanned };
  });
}

test('case 31: with 10 due among 5,000 pending the sweep reads what follows the due ones; with none due, a fixed number of times', async () => {
  const alone = await itemsReadForTenDue();
  const idle = await idleCosts();
  await seedPending(front, 5_000);

  expect(await itemsReadForTenDue()).toBe(alone);
  expect(alone).toBeLessThanOrEqual(10 * 8);
  expect(await idleCosts()).toEqual(idle);
  expect(idle).toEqual([{ operation: 'Query', calls: 4, itemsReturned: 0, itemsScanned: 0 }]);

  await front.zeroMeter();
  await sweepThatFilters();
  expect(itemsRead(await sweepCounts())).toBeGreaterThanOrEqual(5_000);
});

/** A planted fault: it asks for all that will ever be due and filters. */
async function sweepThatFilters(): Promise<void> {
  const { client, requestsTable } = asFunction(front, 'sweep');
  for (const shard of ['0', '1', '2', '3']) {
    const query = {
      TableName: requestsTable,
      IndexName: 'due',
      KeyConditionExpression: 'dueShard = :shard',
      FilterExpression: 'version < :none',
      ExpressionAttributeValues: { ':shard': shard, ':none': 0 },
    };
    for await (const _ of paginateQuery({ client }, query));
  }
}

const dueNow = async (): Promise<string[]> => {
  const due: string[] = [];
  for await (const id of createStore(behind(front)).due(laterWorld(offset).now())) due.push(id);
  return due;
};

/** The sweep's use case beside the played one, on a store that a test may spoil. */
const sweepOn = (store: Parameters<typeof sweepTimeouts>[0]['store'], later = offset) =>
  sweepTimeouts(
    { store, alerts: { publish: async () => {} }, world: laterWorld(later) },
    { until: Date.now() + (later + 60) * 1000, webUrl: 'http://localhost' },
  );

/** An id that the sweep finds in the same shard as all others made here. */
function idInFirstShard(): string {
  for (;;) {
    const requestId = newId();
    if (stateItem(pendingState({ requestId, wakeAt: '2026-01-01T00:00:00.000Z' })).dueShard === '0') return requestId;
  }
}

const moreThanAPage = () => inParallel(many(110), () => seedDue(front, { requestId: idInFirstShard() }));

test('case 32: of more than one page of due requests the last one is handled in the same tick', async () => {
  const ids = await moreThanAPage();
  expect((await front.sweep()).failed).toEqual([]);
  expect(await dueNow()).toEqual([]);
  const statuses = await inParallel(ids, async (id) => (await stateOf(id)).status);
  expect(new Set(statuses)).toEqual(new Set(['TIMED_OUT']));
});

test('case 32: a sweep that forgets the next page is caught', async () => {
  await moreThanAPage();
  await sweepOn({ ...createStore(behind(front)), due: firstPageOnly });
  expect(await dueNow()).toHaveLength(10);
  await front.sweep();
});

/** A planted fault: `LastEvaluatedKey` is ignored. */
async function* firstPageOnly(now: Instant): AsyncGenerator<string> {
  let taken = 0;
  for await (const id of createStore(behind(front)).due(now)) if (taken++ < 100) yield id;
}

test('case 34: a corrupt record among the due never stops the others', async () => {
  const { client, requestsTable, auditTable } = behind(front);
  await front.stream(false);
  const [wrongVersion, unknownStatus, brokenTail, ...sound] = await inParallel(many(20), () => seedDue(front));
  if (!wrongVersion || !unknownStatus || !brokenTail) throw new Error('given');
  const { runId, lastEntry } = await stateOf(brokenTail);
  const spoil = (TableName: string, Key: Record<string, unknown>, attribute: string, value: unknown) =>
    client.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: 'SET #attribute = :value',
        ExpressionAttributeNames: { '#attribute': attribute },
        ExpressionAttributeValues: { ':value': value },
      }),
    );
  await spoil(requestsTable, stateKey(wrongVersion), 'version', 'one');
  await spoil(requestsTable, stateKey(unknownStatus), 'status', 'MAYBE');
  await spoil(auditTable, { runId, sequence: lastEntry.sequence }, 'entry', '{');
  const { failed, handled } = await front.sweep();
  expect(failed.sort()).toEqual([wrongVersion, unknownStatus, brokenTail].sort());
  expect(handled).toBe(sound.length);
  for (const id of sound) expect((await stateOf(id)).status).toBe('TIMED_OUT');
  expect((await stateOf(brokenTail)).status).toBe('PENDING');
  expect((await front.sweep()).failed.sort()).toEqual(failed);

  for (const requestId of failed)
    await client.send(new DeleteCommand({ TableName: requestsTable, Key: stateKey(requestId) }));
});

test('case 34: a delivery whose content is gone stops no other delivery', async () => {
  const { client, requestsTable } = behind(front);
  await front.stream(false);
  const [hollow, sound] = [await asked(closing(newRun())), await asked(closing(newRun()))];
  const { effectiveDigest } = await stateOf(hollow);
  const Key = { requestId: hollow, part: parts.content(effectiveDigest) };
  await client.send(new DeleteCommand({ TableName: requestsTable, Key }));

  await front.sweep();
  expect(Object.keys((await stateOf(sound)).delivered)).toEqual(['asked-0-support_agent']);
  expect((await stateOf(hollow)).owed['asked-0-support_agent']?.attempts).toBe(1);
});

test('case 35: without a timeout the policy’s own is stamped; without a deadline nothing can be stored', async () => {
  const runId = newRun();
  const seconds = ({ requestedAt, deadline }: Record<string, string>) =>
    (Date.parse(deadline ?? '') - Date.parse(requestedAt ?? '')) / 1000;
  const [own, unlisted, shorter, longer] = await Promise.all(
    [
      closing(runId),
      { ...closing(runId), actionName: 'never_heard_of' },
      { ...closing(runId), timeoutSeconds: 60 },
      { ...closing(runId), timeoutSeconds: 86_400 },
    ].map((body) => front.ask(body)),
  );
  expect(seconds(own?.body)).toBe(timeoutSeconds);
  expect(seconds(unlisted?.body)).toBe(900);
  expect(seconds(shorter?.body)).toBe(60);
  expect([longer?.status, longer?.body.code]).toEqual([400, 'VALIDATION_FAILED']);
  for (const timeout of [null, 0, -1, '60', 1.5]) {
    expect((await front.ask({ ...closing(runId), timeoutSeconds: timeout })).status).toBe(400);
  }

  const store = createStore(behind(front));
  const state = await stateOf(own?.body.requestId);
  const { deadline: _, ...endless } = state;
  const tail = await store.readTail(runId);
  if (!tail) throw new Error('given');
  const entry = { ...tail, sequence: tail.sequence + 1 };
  for (const before of [state, undefined]) {
    const after = { ...endless, version: state.version + 1 } as RequestState;
    const change = { ...(before && { before }), after, entry, contents: [] };
    await expect(store.commit(change, Date.now() + 5_000)).rejects.toThrow(/deadline/);
  }
  expect(await stateOf(state.requestId)).toMatchObject({ deadline: state.deadline });
});

test('case 36: a timeout has nobody as its decider, the source timeout, and no text says that a person refused', async () => {
  const runId = newRun();
  const requestId = await asked({ ...closing(runId), contextSummary: 'The customer is silent.' });
  await delivered(requestId, 'asked-0-support_agent');
  await pass(timeoutSeconds);
  await front.sweep();

  const view = await viewed(requestId);
  expect(view.decision).toMatchObject({ word: 'timeout', source: 'timeout', decidedBy: [] });
  expect([view.status, view.verdict, view.votes]).toEqual(['TIMED_OUT', 'stop', []]);
  const page = await fetch(`${front.urls.apiUrl}/r/${requestId}`, {
    headers: { cookie: `__Host-countersign=${front.urls.tokens.alice}` },
  });
  expect(page.status).toBe(200);
  const shown = withoutMarkup(await page.text()).replace('this is not a rejection', '');
  expect(shown).toMatch(/time|Time/);
  const late = await front.decide(requestId, 'alice', { decision: 'reject', note: 'no' });
  expect([late.status, late.body.code]).toEqual([410, 'DEADLINE_PASSED']);
  const texts = {
    shown,
    view: JSON.stringify(view),
    audit: JSON.stringify(
      (await front.audit(runId)).body.items.filter(({ type }: { type: string }) => type !== 'late_attempt'),
    ),
    mails: JSON.stringify(await front.messages(requestId)),
    late: JSON.stringify(late.body),
  };
  for (const [where, text] of Object.entries(texts)) expect(text, where).not.toMatch(saysRefused);
});

/** What would say that a person said no. */
const saysRefused = /\b(reject(ed|s|ion)|refus(ed|al|es)|denied|declined|disapproved)\b/i;
const withoutMarkup = (html: string) => html.replace(/<(style|script)[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' ');

test('case 36 would be seen to fail: what a rejection says is found by the same words', async () => {
  const requestId = await asked(closing(newRun()));
  const { body } = await front.reject(requestId, 'alice');
  expect(JSON.stringify(body)).toMatch(saysRefused);
});

test('case 37: onTimeout: proceed goes on only where the alert has left', async () => {
  const [heard, unheard] = [newRun(), newRun()];
  const asking = await asked(reminding(heard));
  await delivered(asking, 'asked-0-support_agent');
  await front.faults([{ operation: 'Publish', times: 1000, when: 'before', error: 'InternalServerError' }]);
  const silent = await asked(reminding(unheard));
  await expect
    .poll(async () => (await stateOf(silent)).owed['asked-0-support_agent']?.attempts, { timeout: 15_000 })
    .toBe(1);

  await pass(timeoutSeconds);
  await front.sweep();
  expect(await viewed(silent)).toMatchObject({ status: 'TIMED_OUT', verdict: 'stop' });
  expect((await front.audit(unheard)).body.items.at(-1)).toMatchObject({
    type: 'request_timed_out',
    details: { reason: 'alert_never_left' },
  });
  expect((await front.claim(silent, { actionName: 'send_reminder', actionArgs: { to: 'ada' } })).body.code).toBe(
    'DEADLINE_PASSED',
  );
  expect(await viewed(asking)).toMatchObject({
    status: 'APPROVED',
    verdict: 'allow',
    decision: { source: 'timeout', decidedBy: [] },
  });
});

/** Each was asked of the next role once: one transition, one entry, one level. */
async function escalatedOnce(requestIds: readonly string[]): Promise<void> {
  const store = createStore(behind(front));
  const states = await inParallel(requestIds, stateOf);
  const wrong = states.filter(({ level, version }) => level !== 1 || version !== 2);
  if (wrong.length > 0) throw new Error(`${wrong.length} requests are not at level 1 and version 2`);
  const runs = [...new Set(states.map(({ runId }) => runId))];
  const entries = (await inParallel(runs, (runId) => store.entries(runId, 0, 10_000))).flat();
  const escalations = entries
    .map(({ canonical }) => JSON.parse(canonical))
    .filter(({ type }) => type === 'request_escalated');
  if (escalations.length !== requestIds.length)
    throw new Error(`${escalations.length} escalations of ${requestIds.length} requests`);
  expect(new Set(escalations.map(({ requestId }) => requestId))).toEqual(new Set(requestIds));
}

const eight = many(8);

/** To be asked of one more role. */
const escalating: Partial<PendingState> = {
  approvals: [{ role: 'support_manager', count: 1 }],
  asked: ['support_manager'],
  policy: { ...pendingState().policy, onTimeout: 'escalate', escalateTo: ['senior_manager'] },
};

test('case 33: eight unguarded sweeps are caught', async () => {
  await front.stream(false);
  const ids = await seedManyDue(front, 12, escalating);
  await Promise.all(eight.map(() => sweepOn(unguardedStore())));
  await expect(escalatedOnce(ids)).rejects.toThrow(/not at level 1|escalations of 12/);
});

/** A planted fault: the sweep writes what it has decided, whoever else has been there meanwhile. */
function unguardedStore() {
  const store = createStore(behind(front));
  const commit: typeof store.commit = async ({ before: _, ...change }, until) => {
    const { client, requestsTable, auditTable } = behind(front);
    await client.send(new PutCommand({ TableName: requestsTable, Item: stateItem(change.after) }));
    const { runId, canonical, hash } = change.entry;
    for (let { sequence } = change.entry; Date.now() < until; sequence++) {
      const Item = { runId, sequence, entry: canonical, hash };
      const ConditionExpression = 'attribute_not_exists(runId)';
      const put = new PutCommand({ TableName: auditTable, Item, ConditionExpression });
      if (
        await client.send(put).then(
          () => true,
          () => false,
        )
      )
        return 'committed';
    }
    return 'conflict';
  };
  return { ...store, commit };
}

test('case 33: eight sweeps at once over 1,000 due requests: 1,000 transitions, 1,000 entries, one level each', async () => {
  await front.stream(false);
  const ids = await seedManyDue(front, 1_000, escalating);

  await Promise.all(eight.map(() => front.sweep()));
  // What a slow machine did not answer in time stayed due; the next ticks take it.
  for (let ticks = 0; ticks < 10 && (await front.sweep()).handled > 0; ticks++);
  await escalatedOnce(ids);
  const { runId } = await stateOf(ids[0] ?? '');
  expect((await front.verify(runId)).body).toMatchObject({ intact: true, entries: 2 });
}, 300_000);
