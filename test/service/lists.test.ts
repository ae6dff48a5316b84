import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTurn, times } from './answers.ts';
import { type Answer, email, type Front, newRun } from './harness.ts';
import { startWith } from './known-people.ts';

let front: Front;
beforeAll(async () => {
  front = await startWith(
    {
      /** Of both departments that a question waits for. */
      bea: { roles: ['finance', 'security'], scopes: ['decide'] },
      sid: { roles: ['security'], scopes: ['decide'] },
      fay: { roles: ['finance'], scopes: ['decide'] },
    },
    { deployment: { policyFile: 'test/service/policies/two-departments.yaml' } },
  );
});
afterAll(() => front?.stop());

const list = (as: string, query: string) => front.call('GET', `/v1/requests${query}`, { as });
const idsOf = (items: Answer['body'][]) => items.map(({ requestId }: { requestId: string }) => requestId);
const asked = async (body: object) => (await front.ask(body)).body;
const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Every item of every page; fails where a page has more than `limit`, or the pages do not come to an end. */
async function allPages(as: string, query: string, limit: number, end: 'last page' | 'empty page' = 'last page') {
  const items: Answer['body'][] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 100; pages++) {
    const { status, body } = await list(
      as,
      `${query}&limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
    );
    expect(status).toBe(200);
    expect(body.items.length).toBeLessThanOrEqual(limit);
    items.push(...body.items);
    cursor = body.cursor;
    if (cursor === undefined || (end === 'empty page' && body.items.length === 0)) return items;
  }
  throw new Error('a list of a hundred pages has no end');
}

describe('all pages together hold every item once', () => {
  test('of a run, oldest first', async () => {
    const runId = newRun();
    const ids: string[] = [];
    for (const n of times(7, (index) => index)) ids.push((await asked(email({ runId, actionArgs: { n } }))).requestId);
    for (const limit of [1, 3, 7, 100]) expect(idsOf(await allPages('alice', `?runId=${runId}`, limit))).toEqual(ids);
    expect(idsOf(await allPages('support-bot', `?runId=${runId}&status=PENDING`, 2))).toEqual(ids);
  });

  test('of what waits for a role, the earliest deadline first', async () => {
    const requests = await inTurn(times(7, newRun), (runId, n) =>
      asked(email({ runId, timeoutSeconds: 600 - ((n * 3) % 7) })),
    );
    const items = await allPages('alice', '?role=support_agent', 2);
    const ours = items.filter(({ requestId }) => idsOf(requests).includes(requestId));
    const byDeadline = requests.toSorted((one, other) => (one.deadline < other.deadline ? -1 : 1));
    expect(idsOf(ours)).toEqual(idsOf(byDeadline));
    expect(new Set(idsOf(items)).size).toBe(items.length);
  });

  test('of what waits for me, also where a question waits for two of my roles', async () => {
    const both = (n: number) => ({
      runId: newRun(),
      actionName: 'pay_supplier',
      actionArgs: { n },
      timeoutSeconds: 300 + n,
    });
    const requests = await inTurn([0, 3, 1, 4, 2, 0, 3], (n) => asked(both(n)));
    for (const n of [0, 3, 4]) await front.approve(requests[n], n === 3 ? 'fay' : 'sid');
    for (const limit of [1, 2, 3, 5, 100]) {
      const items = await allPages('bea', '?status=PENDING', limit);
      expect(idsOf(items).toSorted()).toEqual(idsOf(requests).toSorted());
      expect(items.map(({ deadline }) => deadline)).toEqual(items.map(({ deadline }) => deadline).toSorted());
    }
  });

  test('of what was answered, newest first', async () => {
    const requests = await inTurn(times(6, newRun), (runId) => asked(email({ runId })));
    for (const { requestId } of requests) await front.reject(requestId, 'alice');
    const items = await allPages('alice', '?status=REJECTED', 2, 'empty page');
    expect(idsOf(items).slice(0, 6)).toEqual(idsOf(requests).reverse());
    expect(new Set(idsOf(items)).size).toBe(items.length);
    expect(items.every(({ status, verdict }) => status === 'REJECTED' && verdict === 'stop')).toBe(true);
  });

  test('of an audit, in its order', async () => {
    const runId = newRun();
    for (const n of times(5, (index) => index)) await asked(email({ runId, actionArgs: { n } }));
    const first = await front.audit(runId, '?limit=2');
    const second = await front.audit(runId, `?limit=2&cursor=${first.body.cursor}`);
    const third = await front.audit(runId, `?limit=2&cursor=${second.body.cursor}`);
    const sequences = [first, second, third].map(({ body }) => body.items.map((item: Answer['body']) => item.sequence));
    expect(sequences).toEqual([[1, 2], [3, 4], [5]]);
    expect(third.body.cursor).toBeUndefined();
  });
});

test('summaries carry neither arguments nor texts', async () => {
  const runId = newRun();
  await asked(email({ runId, contextSummary: 'the summary 4711', actionArgs: { to: '4711' } }));
  const { body } = await list('alice', `?runId=${runId}`);
  expect(body.items).toMatchObject([{ runId, actionName: 'send_customer_email', status: 'PENDING', verdict: 'pause' }]);
  expect(JSON.stringify(body)).not.toContain('4711');
});

test('a role is a filter with every other', async () => {
  const runId = newRun();
  const [mail, supplier] = [
    await asked(email({ runId })),
    await asked({ runId, actionName: 'pay_supplier', actionArgs: {} }),
  ];
  expect(idsOf((await list('alice', `?runId=${runId}&role=finance`)).body.items)).toEqual([supplier.requestId]);
  await front.reject(mail.requestId, 'alice');
  await front.reject(supplier.requestId, 'bea');
  const rejected = idsOf(await allPages('dave', '?status=REJECTED&role=finance', 100, 'empty page'));
  expect([rejected.includes(supplier.requestId), rejected.includes(mail.requestId)]).toEqual([true, false]);
});

describe('what a list does not understand is refused, with what is allowed', () => {
  const wrong: [string, RegExp][] = [
    ['?limit=0', /\/limit/],
    ['?limit=101', /\/limit.*100/],
    ['?limit=x', /\/limit.*1 to 100/],
    ['?limit=1.5', /\/limit/],
    ['?limit=0x10', /\/limit: is "0x10"/],
    ['?limit=%201', /\/limit/],
    ['?status=OPEN', /\/status.*PENDING.*REVOKED/],
    ['?status=pending', /\/status.*PENDING/],
    ['?runId=', /\/runId/],
    ['?runId=a%20b', /\/runId/],
    ['?role=', /\/role/],
    [`?role=${'r'.repeat(129)}`, /\/role/],
    ['?page=2', /the query: unknown field "page".*status, role, runId/],
  ];
  test.each(wrong)('%s', async (query, detail) => {
    const { status, body } = await list('alice', query);
    expect([status, body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body.detail).toMatch(detail);
  });

  test('a verification has no query', async () => {
    const { status, body } = await front.call('GET', '/v1/runs/any/audit/verification?x=1', { as: 'dave' });
    expect([status, body.detail]).toEqual([400, 'the query: unknown field "x"; no field is allowed.']);
  });

  test('an agent lists one run, and an auditor without a role says what to list', async () => {
    expect(await list('support-bot', '')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(await list('dave', '')).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });

  test('a cursor that no list gave, or another list, is refused', async () => {
    const runId = newRun();
    for (const n of [1, 2, 3]) await asked(email({ runId, actionArgs: { n } }));
    const ofRun = (await list('alice', `?runId=${runId}&limit=1`)).body.cursor;
    const ofRole = (await list('alice', '?role=support_agent&limit=1')).body.cursor;
    expect([typeof ofRun, typeof ofRole]).toEqual(['string', 'string']);
    const cursors = ['x', '%00', forged({}), forged([]), forged({ support_agent: 'x' }), forged({ finance: ofRole })];
    const lists = [`?runId=${runId}`, '?role=support_agent', '?status=REJECTED', '?status=PENDING'];
    for (const query of lists)
      for (const cursor of [...cursors, query.startsWith('?runId') ? ofRole : ofRun, forged({ runId: 'other' })]) {
        const { status, body } = await list('alice', `${query}&cursor=${cursor}`);
        expect([query, cursor, status, body.code]).toEqual([query, cursor, 400, 'VALIDATION_FAILED']);
        expect(body.detail).toContain('cursor');
      }
    for (const query of [
      '?cursor=x',
      '?cursor=-1',
      '?cursor=0',
      '?limit=0',
      '?limit=101',
      '?limit=0x10',
      '?after=1',
      '?runId=other',
    ])
      expect(await front.audit(runId, query)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });
});
