import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Connection } from '../../adapters/dynamodb/connection.ts';
import { encodeCursor } from '../../adapters/dynamodb/cursor.ts';
import { stateKey } from '../../adapters/dynamodb/items.ts';
import { createStore } from '../../adapters/dynamodb/store.ts';
import { addSeconds, toMilliseconds } from '../../core/instant.ts';
import { missionPolicy } from '../../core/policy-document.ts';
import type { RequestState } from '../../core/request.ts';
import { decideRequest } from '../../core/use-cases/decide-request.ts';
import { type Engine, startEngine } from '../../local/dynamodb-engine.ts';
import { storeContract } from './contract.ts';
import { changesEndExactlyOnce, losersHearThatTheyLost } from './faults.ts';
import {
  failAfterApplying,
  failBeforeApplying,
  forgetTokens,
  mishaps,
  neverReadBack,
  unclearMishaps,
} from './hostile-client.ts';
import { oneOfManyCreatesWins, oneOfManyDecidersWins, theChainNeitherForksNorBreaks } from './races.ts';
import { readThenWriteStore } from './read-then-write-store.ts';
import { asked, changeOf, creationOf, given, pendingState, soon } from './requests.ts';
import { emptyTables, sameTables } from './tables-on-engine.ts';

/** More often than the SDK tries on its own. */
const more = 5;

vi.setConfig({ testTimeout: 20_000 });

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

storeContract('on DynamoDB', async () => createStore(await emptyTables(engine.endpoint)));

describe('CASE 59: the store on a DynamoDB that fails', () => {
  const TransactWriteItems = { operation: 'TransactWriteItems' } as const;

  test.each(Object.entries(mishaps))('before applying, with %s', async (_, error) => {
    const connection = await emptyTables(engine.endpoint);
    failBeforeApplying(connection.client, { ...TransactWriteItems, times: more, error });
    await changesEndExactlyOnce(createStore(connection));
  });

  test.each(unclearMishaps)('after applying, with %s', async (mishap) => {
    for (const times of [1, more]) {
      const connection = await emptyTables(engine.endpoint);
      failAfterApplying(connection.client, { ...TransactWriteItems, times, error: withName(mishap) });
      await changesEndExactlyOnce(createStore(connection));
    }
  });

  test.each(unclearMishaps)('after applying, with %s and no memory of tokens', async (mishap) => {
    for (const times of [1, more]) {
      const connection = await emptyTables(engine.endpoint);
      forgetTokens(connection.client);
      failAfterApplying(connection.client, { ...TransactWriteItems, times, error: withName(mishap) });
      await changesEndExactlyOnce(createStore(connection));
    }
  });

  test.each([0, 1])(
    'after applying, with no try of the SDK of its own, and reading back fails %i times',
    async (times) => {
      const connection = await emptyTables(engine.endpoint, { maxAttempts: 1 });
      const error = withName('an internal error');
      forgetTokens(connection.client);
      failAfterApplying(connection.client, { ...TransactWriteItems, times: 1, error });
      failBeforeApplying(connection.client, { operation: 'Query', times, error });
      await changesEndExactlyOnce(createStore(connection));
    },
  );

  test('after applying, in the last moment of the caller: it still hears that it was done', async () => {
    const connection = await emptyTables(engine.endpoint, { maxAttempts: 1 });
    let now = asked;
    const error = () => {
      now = addSeconds(asked, 60);
      return withName('a timeout')();
    };
    failAfterApplying(connection.client, { ...TransactWriteItems, times: 1, error });
    const store = createStore({ ...connection, world: { ...connection.world, now: () => now } });
    const change = creationOf(pendingState());
    expect(await store.commit(change, toMilliseconds(asked) + 20_000)).toBe('committed');
    expect(await store.readState(change.after.requestId)).toEqual(change.after);
  });

  test('somebody else was first', async () => {
    for (const fail of [failBeforeApplying, failAfterApplying]) {
      const connection = await emptyTables(engine.endpoint);
      const hostile = sameTables(engine.endpoint, connection);
      fail(hostile.client, { ...TransactWriteItems, times: more, error: withName('a broken connection') });
      await losersHearThatTheyLost(createStore(connection), createStore(hostile));
    }
  });

  test('the small updates of dispatch', async () => {
    const connection = await emptyTables(engine.endpoint);
    const store = createStore(connection);
    const { state } = await given(store, pendingState());
    failBeforeApplying(connection.client, {
      operation: 'UpdateItem',
      times: more,
      error: withName('a conflict with a transaction'),
    });
    await store.strike(state.requestId, 'asked-0-senior_manager', asked);
    expect((await store.readState(state.requestId))?.delivered).toEqual({ 'asked-0-senior_manager': asked });
  });

  test('for longer than the caller has time: 429, and nothing is stored', async () => {
    const connection = await emptyTables(engine.endpoint);
    failBeforeApplying(connection.client, {
      ...TransactWriteItems,
      times: Number.POSITIVE_INFINITY,
      error: withName('throttling'),
    });
    const store = createStore(connection);
    const change = creationOf(pendingState());
    const began = Date.now();
    await expect(store.commit(change, began + 700)).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      members: { retryAfterSeconds: 1 },
    });
    expect(Date.now() - began).toBeLessThan(2_500);
    expect(await store.readState(change.after.requestId)).toBeUndefined();
  });

  test('every read that the table throttles for long is TOO_MANY_REQUESTS', async () => {
    const connection = await emptyTables(engine.endpoint, { maxAttempts: 1 });
    for (const operation of ['Query', 'GetItem', 'BatchGetItem'] as const)
      failBeforeApplying(connection.client, {
        operation,
        times: Number.POSITIVE_INFINITY,
        error: withName('throttling'),
      });
    const store = createStore(connection);
    const reads: Record<string, () => Promise<unknown>> = {
      readRequest: () => store.readRequest('r'),
      readState: () => store.readState('r'),
      readTail: () => store.readTail('run'),
      pendingForRole: () => store.pendingForRole('a', 1),
      pendingForRoles: () => store.pendingForRoles(['a', 'b'], 1),
      ofRun: () => store.ofRun('run', 1),
      closed: () => store.closed(asked, 1),
      entries: () => store.entries('run', undefined, 1),
      readForCreate: () => store.readForCreate('r', 'default'),
      readHead: () => store.readHead('default'),
      readPublished: () => store.readPublished('default', 1),
      readCounters: () => store.readCounters(['c']),
      readPrecedent: () => store.readPrecedent({ missionId: 'default', precedentId: 'p' }),
      readCountersAndPrecedent: () => store.readCountersAndPrecedent(['c'], { missionId: 'default', precedentId: 'p' }),
      precedentsOf: () => store.precedentsOf({ missionId: 'default', actionName: 'a' }, 1),
    };
    const writes = ['commit', 'record', 'countLateAttempt', 'due', 'lease', 'strike', 'postpone', 'rest'];
    expect([...Object.keys(reads), ...writes].sort()).toEqual(Object.keys(store).sort());
    for (const [name, read] of Object.entries(reads))
      await expect(read(), name).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
  });

  const voter = { id: 'ann', aliases: [], roles: ['support_manager'], scopes: ['decide' as const] };
  const hourLater = addSeconds(asked, 3600);

  test('given a vote that is in conflict with others until after the deadline, then 410, a late attempt, and nothing decided', async () => {
    const connection = await emptyTables(engine.endpoint);
    const { state } = await given(
      createStore(connection),
      pendingState({ approvals: [{ role: 'support_manager', count: 1 }] }),
    );
    let now = addSeconds(asked, 3599);
    const world = { ...connection.world, now: () => now };
    const error = () => {
      now = hourLater;
      return withName('a cancelled transaction in conflict with another')();
    };
    failBeforeApplying(connection.client, { ...TransactWriteItems, times: 1, error });
    const store = createStore({ ...connection, world });
    const body = { decision: 'approve', argsDigest: state.argsDigest };
    const acting = { requestId: state.requestId, body, principal: voter, until: toMilliseconds(now) + 20_000 };
    const deployed = missionPolicy({ mission: 'default', defaults: { approverRole: 'support_manager' }, actions: {} });
    const policies = { deployed, find: async () => undefined };
    await expect(decideRequest({ store, world, policies }, acting)).rejects.toMatchObject({ code: 'DEADLINE_PASSED' });
    expect(await store.readState(state.requestId)).toMatchObject({
      status: 'PENDING',
      votes: [],
      lateAttempts: { ann: 1 },
    });
    expect((await store.entries(state.runId, 0, 10)).map(({ canonical }) => JSON.parse(canonical).type)).toEqual([
      'request_created',
      'late_attempt',
    ]);
  });

  test('given a claim that is in conflict with others until after claimBy, then it is a conflict, to be decided again', async () => {
    const connection = await emptyTables(engine.endpoint);
    const approval = {
      status: 'APPROVED' as const,
      decision: { word: 'approve' as const, source: 'policy' as const, decidedBy: [] as [], decidedAt: asked },
      claimBy: hourLater,
      closedAt: asked,
    };
    const { state, tail } = await given(createStore(connection), {
      ...pendingState(),
      ...approval,
      owed: {},
    } as RequestState);
    let now = addSeconds(asked, 3599);
    const error = () => {
      now = hourLater;
      return withName('a cancelled transaction in conflict with another')();
    };
    const claim = { claimId: 'c', claimedAt: now, claimedBy: 'bot' };
    const event = { type: 'approval_claimed' as const, details: { claimId: 'c', effectiveDigest: state.argsDigest } };
    const change = changeOf(state, tail, { claim }, event, 'bot', now);
    failBeforeApplying(connection.client, { ...TransactWriteItems, times: 1, error });
    const store = createStore({ ...connection, world: { ...connection.world, now: () => now } });
    expect(await store.commit(change, toMilliseconds(now) + 20_000)).toBe('conflict');
    now = addSeconds(asked, 3599);
    expect(await store.commit(change, toMilliseconds(now) + 20_000)).toBe('committed');
  });

  test('given a vote that the SDK tries again after the deadline, then that try does not reach the table', async () => {
    const connection = await emptyTables(engine.endpoint);
    const store = createStore(connection);
    const deadline = new Date(Date.now() + 500).toISOString();
    const { state, tail } = await given(store, pendingState({ deadline }));
    const event = { type: 'vote_recorded' as const, details: { word: 'approve' as const, roles: [] } };
    const error = () => {
      while (Date.now() < toMilliseconds(deadline));
      return withName('throttling')();
    };
    failBeforeApplying(connection.client, { ...TransactWriteItems, times: 1, error });
    expect(await store.commit(changeOf(state, tail, {}, event), soon())).toBe('conflict');
    expect(await store.readState(state.requestId)).toEqual(state);
  });

  test('given a vote whose acknowledgement is lost until after the deadline, then it was done all the same', async () => {
    const connection = await emptyTables(engine.endpoint, { maxAttempts: 1 });
    const { state, tail } = await given(createStore(connection), pendingState());
    let now = addSeconds(asked, 3599);
    const event = { type: 'vote_recorded' as const, details: { word: 'approve' as const, roles: [] } };
    const change = changeOf(state, tail, {}, event, 'ann', now);
    failBeforeApplying(connection.client, { operation: 'Query', times: 1, error: withName('a timeout') });
    failAfterApplying(connection.client, {
      ...TransactWriteItems,
      times: 1,
      error: () => {
        now = hourLater;
        return withName('a timeout')();
      },
    });
    const store = createStore({ ...connection, world: { ...connection.world, now: () => now } });
    expect(await store.commit(change, toMilliseconds(now) + 20_000)).toBe('committed');
  });

  test('given an entry with a number below one, then whoever reads from the very first finds it', async () => {
    const connection = await emptyTables(engine.endpoint);
    const store = createStore(connection);
    const { tail } = await given(store, pendingState());
    const { runId, hash, canonical } = tail;
    const Item = { runId, sequence: -1, hash, canonical };
    await connection.client.send(new PutCommand({ TableName: connection.auditTable, Item }));
    expect((await store.entries(runId, undefined, 1)).map(({ sequence }) => sequence)).toEqual([-1]);
    expect((await store.entries(runId, undefined, 10)).map(({ sequence }) => sequence)).toEqual([-1, 1]);
    expect((await store.entries(runId, 0, 10)).map(({ sequence }) => sequence)).toEqual([1]);
  });

  test('with what no other try can mend: the error as it came, at once', async () => {
    const connection = await emptyTables(engine.endpoint);
    const store = createStore({ ...connection, auditTable: 'no-such-table' });
    await expect(store.commit(creationOf(pendingState()), soon())).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});

describe('a planted fault is caught', () => {
  test.each([oneOfManyCreatesWins, oneOfManyDecidersWins, theChainNeitherForksNorBreaks])(
    'a store that reads and then writes fails %o',
    async (race) => {
      await expect(race(readThenWriteStore(await emptyTables(engine.endpoint)))).rejects.toThrow(/expected/);
    },
  );

  test.each([1, 4])(
    'a store that does not read back after a lost acknowledgement, with %i tries',
    async (maxAttempts) => {
      const connection = await emptyTables(engine.endpoint, { maxAttempts });
      neverReadBack(connection.client);
      forgetTokens(connection.client);
      failAfterApplying(connection.client, { operation: 'TransactWriteItems', times: 1, error: withName('a timeout') });
      await expect(changesEndExactlyOnce(createStore(connection))).rejects.toThrow(/'conflict' to be 'committed'/);
    },
  );
});

describe('CASE 34: a corrupt record', () => {
  const corrupt = ({ client, requestsTable }: Connection, requestId: string, attribute: string, value: unknown) =>
    client.send(
      new UpdateCommand({
        TableName: requestsTable,
        Key: stateKey(requestId),
        UpdateExpression: 'SET #attribute = :value',
        ExpressionAttributeNames: { '#attribute': attribute },
        ExpressionAttributeValues: { ':value': value },
      }),
    );

  test.each([
    ['status', 'APPROVED', 'decision'],
    ['status', 'MAYBE', 'status'],
    ['deadline', 'tomorrow', 'deadline'],
    ['version', 'one', 'version'],
    ['votes', [{ word: 'approve' }], 'votes.0.approver'],
    ['owed', { x: { attempts: -1 } }, 'owed.x.kind'],
  ])('with a wrong %s (%j) is an error that names it, and stops no other', async (attribute, value, place) => {
    const connection = await emptyTables(engine.endpoint);
    const store = createStore(connection);
    const { state } = await given(store, pendingState());
    const { state: other } = await given(store, pendingState({ runId: state.runId }));
    await corrupt(connection, state.requestId, attribute, value);
    await expect(store.readState(state.requestId)).rejects.toThrow(
      `The stored record ${state.requestId}/state cannot be read: not as it was written: ${place}`,
    );
    await expect(store.readRequest(state.requestId)).rejects.toThrow(/cannot be read/);
    expect(await store.readState(other.requestId)).toEqual(other);
    const due: string[] = [];
    for await (const requestId of store.due(asked)) due.push(requestId);
    expect(due.sort()).toEqual([state.requestId, other.requestId].sort());
  });

  test('is left out of a list and named in the log', async () => {
    const log = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const connection = await emptyTables(engine.endpoint);
    const store = createStore(connection);
    const { state } = await given(store, pendingState());
    const { state: other } = await given(
      store,
      pendingState({ runId: state.runId, requestedAt: addSeconds(asked, 1) }),
    );
    await corrupt(connection, state.requestId, 'level', 'high');
    expect((await store.ofRun(state.runId, 10)).items.map(({ requestId }) => requestId)).toEqual([other.requestId]);
    expect(log.mock.calls.flat().join()).toContain(
      `${state.requestId}/state cannot be read: not as it was written: level`,
    );
    log.mockRestore();
  });
});

test('a cursor that names places outside its own list is refused before DynamoDB sees it', async () => {
  const store = createStore(await emptyTables(engine.endpoint));
  const key = (closedAt: string) => ({ requestId: 'r', closedAt });
  const position = { before: asked, day: '2026-11-30', taken: [null, null, null, null] };
  const forged = [
    { ...position, day: '2026-12-01' },
    { ...position, taken: [key('2026-11-29T00:00:00.000Z'), null, null, null] },
    { ...position, taken: [null, key('2026-11-30T23:00:00.000Z'), null, null] },
    { ...position, taken: [null, key(''), null, null] },
    { ...position, taken: [null] },
  ];
  for (const cursor of forged.map(encodeCursor)) {
    await expect(store.closed(asked, 1, cursor)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  }
  const allowed = { ...position, taken: [key('2026-11-30T01:00:00.000Z'), null, null, null] };
  expect((await store.closed(asked, 1, encodeCursor(allowed))).items).toEqual([]);
  const run = { runId: 'run', requestedAt: '', requestId: 'r', part: 'state' };
  await expect(store.ofRun('run', 1, encodeCursor(run))).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
});

const withName = (mishap: string): (() => Error) => {
  const error = mishaps[mishap];
  if (!error) throw new Error(`no mishap is called ${mishap}`);
  return error;
};
