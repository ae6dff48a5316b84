import { DeleteCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stateKey } from '../../adapters/dynamodb/items.ts';
import { createStore } from '../../adapters/dynamodb/store.ts';
import { nextInChain, openEntry, sealEntry } from '../../core/audit-chain.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { StoredEntry } from '../../core/ports.ts';
import { verifyRun } from '../../core/use-cases/verify-run.ts';
import { type Answer, email, Front, newRun } from './harness.ts';
import { behind } from './tables.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start({ deployment: { sweepMinutes: 60 } });
  await front.stream(false);
});
afterAll(() => front.stop());

const readBack = (runId: string): Promise<StoredEntry[]> => createStore(behind(front)).entries(runId, 0, 10_000);

/** On a slow machine a call may not win its race in time; then it is made again, as the answer says, and is the same call. */
async function untilTaken(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call();
    if (answer.status !== 429 && answer.status !== 503) return answer;
  }
}

test('case 55: 200 concurrent changes in one run: sequences 1…200, no fork', async () => {
  const runId = newRun();
  const statuses: number[] = [];
  const life = async (_: unknown, index: number) => {
    const asked = await untilTaken(() => front.ask(email({ runId }), { key: `${runId}-${index}` }));
    const decided = await untilTaken(() => front.approve(asked.body, 'alice'));
    statuses.push(asked.status, decided.status);
  };
  await Promise.all(Array.from({ length: 100 }, life));
  expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([]);

  const chain = await readBack(runId);
  expect(chain.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  const entries = chain.map(openEntry);
  expect(entries.slice(1).map(({ previousHash }) => previousHash)).toEqual(chain.slice(0, -1).map(({ hash }) => hash));
  expect(entries.at(-1)?.run.pending).toBe(0);
  expect((await front.verify(runId)).body).toMatchObject({
    intact: true,
    entries: 200,
    head: { sequence: 200, hash: chain.at(-1)?.hash },
  });
}, 180_000);

interface Lived {
  runId: string;
  /** Approved, claimed and reported: entries 1, 3, 4 and 5. */
  first: string;
  /** Asked and rejected: entries 2 and 6. */
  second: string;
  chain: StoredEntry[];
}

/** A run of six entries about two requests. */
async function lived(): Promise<Lived> {
  const runId = newRun();
  const { body: first } = await front.ask(email({ runId }));
  const { body: second } = await front.ask(email({ runId, contextSummary: 'Again.' }));
  await front.approve(first, 'alice');
  const { body: claim } = await front.claim(first.requestId, {
    actionName: first.actionName,
    actionArgs: first.actionArgs,
  });
  await front.outcome(first.requestId, { claimId: claim.claimId, outcome: 'succeeded', result: { sent: true } });
  await front.reject(second.requestId, 'frank');
  const chain = await readBack(runId);
  expect(chain).toHaveLength(6);
  return { runId, first: first.requestId, second: second.requestId, chain };
}

const putEntry = ({ canonical, ...key }: StoredEntry) => {
  const { client, auditTable } = behind(front);
  return client.send(new PutCommand({ TableName: auditTable, Item: { ...key, entry: canonical } }));
};
const removeEntry = ({ runId, sequence }: StoredEntry) => {
  const { client, auditTable } = behind(front);
  return client.send(new DeleteCommand({ TableName: auditTable, Key: { runId, sequence } }));
};
const setOnState = (requestId: string, attribute: string, value: unknown) => {
  const { client, requestsTable } = behind(front);
  const update = {
    TableName: requestsTable,
    Key: stateKey(requestId),
    UpdateExpression: 'SET #attribute = :value',
    ExpressionAttributeNames: { '#attribute': attribute },
    ExpressionAttributeValues: { ':value': value },
  };
  return client.send(new UpdateCommand(update));
};
const removeState = (requestId: string) => {
  const { client, requestsTable } = behind(front);
  return client.send(new DeleteCommand({ TableName: requestsTable, Key: stateKey(requestId) }));
};

async function contentsOf(requestId: string) {
  const { client, requestsTable } = behind(front);
  const query = {
    TableName: requestsTable,
    KeyConditionExpression: 'requestId = :id AND begins_with(part, :content)',
    ExpressionAttributeValues: { ':id': requestId, ':content': 'content#' },
  };
  return (await client.send(new QueryCommand(query))).Items ?? [];
}

async function contentWith(requestId: string, text: string) {
  const item = (await contentsOf(requestId)).find(({ canonical }) => String(canonical).includes(text));
  if (!item) throw new Error(`no content of ${requestId} holds ${text}`);
  return item;
}

const entryOf = (chain: StoredEntry[], sequence: number): StoredEntry => {
  const entry = chain[sequence - 1];
  if (!entry) throw new Error(`no entry ${sequence}`);
  return entry;
};

/** The entry with another text, its hash made to fit. */
function resealed(stored: StoredEntry, changes: object): StoredEntry {
  const { hash: _, canonical: __, ...entry } = openEntry(stored);
  const { hash, canonical } = sealEntry({ ...entry, ...changes } as Parameters<typeof sealEntry>[0]);
  return { ...stored, hash, canonical };
}

/** Each with the first bad place, and what the reason must say. */
const tampering: readonly [name: string, brokenAt: number, reason: RegExp, tamper: (run: Lived) => Promise<unknown>][] =
  [
    [
      'the text of one entry changed',
      3,
      /does not match its hash/,
      ({ chain }) => putEntry({ ...entryOf(chain, 3), canonical: entryOf(chain, 3).canonical.replace('alice', 'bob') }),
    ],
    [
      'one entry changed, its hash made to fit',
      4,
      /does not follow/,
      ({ chain }) => putEntry(resealed(entryOf(chain, 3), { actor: { kind: 'person', id: 'bob' } })),
    ],
    [
      'the last entry changed, its hash made to fit',
      6,
      /not the entry that request .* names/,
      ({ chain }) => putEntry(resealed(entryOf(chain, 6), { actor: { kind: 'person', id: 'bob' } })),
    ],
    ['the first entry removed', 1, /missing/, ({ chain }) => removeEntry(entryOf(chain, 1))],
    ['an entry in the middle removed', 4, /missing/, ({ chain }) => removeEntry(entryOf(chain, 4))],
    [
      'two entries swapped',
      2,
      /sealed as entry 3/,
      async ({ chain }) => {
        const [two, three] = [entryOf(chain, 2), entryOf(chain, 3)];
        await putEntry({ ...two, hash: three.hash, canonical: three.canonical });
        await putEntry({ ...three, hash: two.hash, canonical: two.canonical });
      },
    ],
    [
      'an entry of another run put in its place',
      1,
      /belongs to the run/,
      async ({ chain, runId }) =>
        putEntry({ ...entryOf((await lived()).chain, 1), runId, sequence: entryOf(chain, 1).sequence }),
    ],
    [
      'a well-made entry added at the end',
      7,
      /does not know of this entry/,
      ({ chain }) => {
        const last = openEntry(entryOf(chain, 6));
        const { hash, canonical } = sealEntry({ ...last, ...nextInChain(last) } as Parameters<typeof sealEntry>[0]);
        return putEntry({ ...entryOf(chain, 6), sequence: 7, hash, canonical });
      },
    ],
    ['the tail cut by one', 6, /tail was cut/, ({ chain }) => removeEntry(entryOf(chain, 6))],
    ['the tail cut by four', 3, /tail was cut/, ({ chain }) => Promise.all(chain.slice(2).map(removeEntry))],
    ['the table emptied', 1, /tail was cut/, ({ chain }) => Promise.all(chain.map(removeEntry))],
    [
      'the arguments changed',
      1,
      /content .* does not match its digest/,
      async ({ first }) => {
        const item = await contentWith(first, 'ada@customer.example');
        const canonical = String(item.canonical).replace('ada@customer', 'eve@customer');
        const { client, requestsTable } = behind(front);
        await client.send(new PutCommand({ TableName: requestsTable, Item: { ...item, canonical } }));
      },
    ],
    [
      'the note of a rejection removed',
      6,
      /content .* is missing/,
      async ({ second }) => {
        const { requestId, part } = await contentWith(second, '"note":"no"');
        const { client, requestsTable } = behind(front);
        await client.send(new DeleteCommand({ TableName: requestsTable, Key: { requestId, part } }));
      },
    ],
    [
      'a deadline changed',
      5,
      /says deadline/,
      ({ first }) => setOnState(first, 'deadline', '2099-01-01T00:00:00.000Z'),
    ],
    [
      'an outcome changed',
      5,
      /says outcome/,
      async ({ first }) => {
        const outcome = { outcome: 'failed', reportedAt: new Date().toISOString() };
        await setOnState(first, 'outcome', outcome);
      },
    ],
    [
      'a rejection made an approval',
      6,
      /says status/,
      async ({ second }) => {
        const state = await createStore(behind(front)).readState(second);
        if (state?.status !== 'REJECTED') throw new Error('given');
        await setOnState(second, 'status', 'APPROVED');
        await setOnState(second, 'claimBy', '2099-01-01T00:00:00.000Z');
        await setOnState(second, 'decision', { ...state.decision, word: 'approve' });
      },
    ],
    [
      'a vote given to somebody else',
      5,
      /says votes/,
      async ({ first }) => {
        const state = await createStore(behind(front)).readState(first);
        await setOnState(
          first,
          'votes',
          state?.votes.map((vote) => ({ ...vote, approver: 'bob' })),
        );
      },
    ],
    ['a request removed', 5, /does not exist/, ({ first }) => removeState(first)],
  ];

test.each(tampering)('case 56: %s: verify fails and names entry %i', async (_, brokenAt, reason, tamper) => {
  const run = await lived();
  expect((await front.verify(run.runId)).body).toMatchObject({ intact: true, entries: 6 });
  await tamper(run);
  const { status, body } = await front.verify(run.runId);
  expect([status, body.intact, body.brokenAt]).toEqual([200, false, brokenAt]);
  expect(body.reason).toMatch(reason);
});

test('case 56: a cut tail that left no other trace is found by lastEntry alone; a verification that ignores it is caught', async () => {
  const runId = newRun();
  const { body: request } = await front.ask(email({ runId }));
  try {
    await front.clock(2 * 3600);
    expect((await front.approve(request, 'alice')).body.code).toBe('DEADLINE_PASSED');
  } finally {
    await front.clock(0);
  }
  const chain = await readBack(runId);
  expect(chain.map((entry) => openEntry(entry).type)).toEqual(['request_created', 'late_attempt']);
  await removeEntry(entryOf(chain, 2));

  expect((await front.verify(runId)).body).toMatchObject({ intact: false, brokenAt: 2 });
  expect(await verifyIgnoringLastEntry(runId)).toMatchObject({ intact: true });
});

/** A planted fault: every request is taken to end where the chain ends. */
function verifyIgnoringLastEntry(runId: string) {
  const store = createStore(behind(front));
  const readRequest: typeof store.readRequest = async (requestId) => {
    const request = await store.readRequest(requestId);
    const [last] = (await store.entries(runId, 0, 1_000)).slice(-1);
    return request && last && { ...request, state: { ...request.state, lastEntry: last } };
  };
  return verifyRun({ store: { ...store, readRequest } }, { runId });
}

test('case 56: with states and entries gone nothing is stored of the run: 404, and the answer says what it cannot see', async () => {
  const run = await lived();
  expect((await front.verify(run.runId)).body.limits).toContain('removed together with its requests');
  await Promise.all(run.chain.map(removeEntry));
  await Promise.all([run.first, run.second].map(removeState));
  expect((await front.verify(run.runId)).status).toBe(404);
});

test('the canonical text in the table is the text that was hashed', async () => {
  const { chain } = await lived();
  for (const { canonical } of chain) expect(canonicalJson(JSON.parse(canonical))).toBe(canonical);
});
