import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { drawOf } from '../../core/sampling.ts';
import { engineCredentials } from '../../local/aws-endpoint.ts';
import { codesOf } from './answers.ts';
import { Front, newRun } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start({ deployment: { policyFile: 'test/service/policies/precedents.yaml' } });
});
afterAll(() => front?.stop());
beforeEach(async () => {
  await front.clock(0);
});

let vendors = 0;
const newVendor = (): string => `v-${++vendors}`;
const vendor = (vendorId: string, more: object = {}) => ({
  actionName: 'add_vendor',
  actionArgs: { vendorId, iban: 'DE89370400440532013000', amount: 10, ...more },
});
const asked = async (body: object) => (await front.ask({ runId: newRun(), ...body })).body;

/** Asked by the agent, approved by alice, claimed. */
async function paid(vendorId: string, runId = newRun()) {
  const request = await asked({ runId, ...vendor(vendorId) });
  await front.approve(request, 'alice');
  const { claimId } = (await front.claim(request.requestId, vendor(vendorId))).body;
  await front.outcome(request.requestId, { claimId, outcome: 'succeeded' });
  return { runId, requestId: request.requestId };
}

const list = (as: string, query = '?actionName=add_vendor&limit=100') =>
  front.call('GET', `/v1/policies/default/precedents${query}`, { as });
const revoke = (precedentId: string, as = 'alice', body: object = { reason: 'The vendor was hacked' }) =>
  front.call('POST', `/v1/policies/default/precedents/${precedentId}/revocation`, { as }, body);
const precedentFrom = async (requestId: string) =>
  (await list('bob')).body.items.find((one: { requestId: string }) => one.requestId === requestId);

describe('precedents', () => {
  test('what a person approved and the agent used is no longer novel, until somebody takes it back with a reason', async () => {
    const vendorId = newVendor();
    const first = await paid(vendorId);
    const known = await asked(vendor(vendorId, { amount: 900 }));
    expect(known).toMatchObject({
      status: 'APPROVED',
      decision: { source: 'policy' },
      precedent: { requestId: first.requestId },
    });

    const precedent = await precedentFrom(first.requestId);
    expect(precedent).toMatchObject({ ...first, noveltyKey: ['/vendorId', '/iban'], approvedBy: ['alice'] });
    expect(precedent.precedentId).toBe(known.precedent.precedentId);
    const revoked = await revoke(precedent.precedentId);
    expect([revoked.status, revoked.body]).toEqual([
      200,
      { ...precedent, revoked: { by: 'alice', at: expect.any(String) } },
    ]);
    expect(await precedentFrom(first.requestId)).toEqual(revoked.body);
    expect((await asked(vendor(vendorId))).status).toBe('PENDING');

    const { items } = (await front.audit(first.runId)).body;
    const entry = items.at(-1);
    expect(entry).toMatchObject({ type: 'precedent_revoked', actor: { id: 'alice' } });
    expect(Object.values(entry.contents)).toMatchObject([{ note: 'The vendor was hacked' }]);
    expect((await front.verify(first.runId)).body).toMatchObject({ intact: true, entries: 5 });
  });

  test('approved alone sets none, and two novel ones at once both ask', async () => {
    const vendorId = newVendor();
    const both = await Promise.all([asked(vendor(vendorId)), asked(vendor(vendorId))]);
    expect(both.map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
    for (const request of both) await front.approve(request, 'alice');
    expect((await asked(vendor(vendorId))).status).toBe('PENDING');
    const claims = await Promise.all(both.map(({ requestId }) => front.claim(requestId, vendor(vendorId))));
    expect(claims.map(({ status }) => status)).toEqual([200, 200]);
    expect((await asked(vendor(vendorId))).status).toBe('APPROVED');
  });

  test('rules beat it, and another value of the key is novel', async () => {
    const vendorId = newVendor();
    await paid(vendorId);
    expect(await asked(vendor(vendorId, { amount: 1000.01 }))).toMatchObject({
      status: 'PENDING',
      policy: { matched: [{ ruleId: 'large' }] },
    });
    expect((await asked(vendor(vendorId, { amount: 1000 }))).status).toBe('APPROVED');
    expect((await asked(vendor(vendorId, { iban: 'FR1' }))).status).toBe('PENDING');
    expect((await asked(vendor('v-evil'))).status).toBe('REJECTED');
  });

  test('a create reads once more for approval_novel, and not for another policy', async () => {
    const reads = async (body: object): Promise<number> => {
      await front.zeroMeter();
      await asked(body);
      const { requests = {} } = (await front.meter()).functions;
      const counted: [string, { calls: number }][] = Object.entries(requests);
      return counted
        .filter(([operation]) => operation !== 'TransactWriteItems')
        .reduce((sum, [, { calls }]) => sum + calls, 0);
    };
    const plain = { actionName: 'look', actionArgs: {} };
    await asked(plain);
    expect(await reads(plain)).toBe(2);
    expect(await reads(vendor(newVendor()))).toBe(3);
  });

  test('who may list, who may take back, and what neither says', async () => {
    const vendorId = newVendor();
    const { requestId } = await paid(vendorId);
    const { precedentId } = await precedentFrom(requestId);
    expect((await list('dave')).status).toBe(200);
    expect([(await list('support-bot')).status, (await list('erin')).status]).toEqual([403, 403]);
    expect(codesOf([await list('bob', ''), await list('bob', '?actionName=add_vendor&cursor=x')])).toEqual([
      'VALIDATION_FAILED',
      'VALIDATION_FAILED',
    ]);
    expect(JSON.stringify((await list('bob')).body)).not.toMatch(/DE89|"v-1"/);
    expect([(await revoke(precedentId, 'support-bot')).status, (await revoke(precedentId, 'dave')).status]).toEqual([
      403, 403,
    ]);
    expect(
      codesOf([
        await revoke(precedentId, 'carol'),
        await revoke(precedentId, 'alice', {}),
        await revoke(precedentId, 'alice', { reason: 'r', by: 'bob' }),
        await revoke('nothing'),
        await revoke(precedentId.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A'))),
      ]),
    ).toEqual(['NOT_AN_APPROVER', 'VALIDATION_FAILED', 'VALIDATION_FAILED', 'NOT_FOUND', 'NOT_FOUND']);
    expect(await precedentFrom(requestId)).not.toHaveProperty('revoked');
  });
});

describe('a simulation', () => {
  const simulate = async (action: object) =>
    (await front.call('POST', '/v1/policies/default/simulation', { as: 'bob' }, action)).body;

  test('sees precedents and windows as a create would, and writes nothing', async () => {
    const vendorId = newVendor();
    expect((await simulate(vendor(vendorId))).verdict).toBe('pause');
    const { runId } = await paid(vendorId);
    expect((await simulate(vendor(vendorId))).verdict).toBe('allow');
    expect(await simulate({ runId, ...vendor(vendorId, { amount: 495 }) })).toMatchObject({
      verdict: 'pause',
      matched: [{ ruleId: 'much' }],
      explanation: expect.arrayContaining([expect.objectContaining({ ruleId: 'much', result: true })]),
    });
    expect((await simulate({ runId, ...vendor(vendorId, { amount: 490 }) })).verdict).toBe('allow');
    expect((await front.verify(runId)).body.entries).toBe(4);
    expect(await asked({ runId, ...vendor(vendorId, { amount: 495 }) })).toMatchObject({
      status: 'PENDING',
      policy: { matched: [{ ruleId: 'much' }] },
    });
  });
});

describe('samples', () => {
  const tables = () => {
    const { dynamodbUrl: endpoint, template } = front.service;
    const client = new DynamoDBClient({ endpoint, region: template.region, credentials: engineCredentials });
    return { client: DynamoDBDocumentClient.from(client), samples: template.outputs.SamplesTable };
  };

  test('one that was drawn waits for review as soon as its outcome is known, and its draw can be recomputed', async () => {
    const runId = newRun();
    const request = await asked({ runId, actionName: 'tag_ticket', actionArgs: { tag: 'late' } });
    const { requestId } = request;
    expect(request).not.toHaveProperty('sampled');
    expect((await front.get(requestId, 'alice')).body.sampled).toBe(true);
    const [entry] = (await front.audit(runId)).body.items;
    const { textsDigest, sample } = entry.details;
    expect(sample).toEqual({ rate: 1, draw: drawOf({ ...entry, textsDigest }), sampled: true });

    const { client, samples } = tables();
    const read = async () =>
      (await client.send(new GetCommand({ TableName: samples, Key: { sampleId: requestId } }))).Item;
    const waiting = async () => {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: samples,
          IndexName: 'pendingReview',
          KeyConditionExpression: 'reviewQueue = :queue',
          ExpressionAttributeValues: { ':queue': 'support_agent' },
        }),
      );
      return Items.map(({ sampleId }) => sampleId);
    };
    expect(await read()).toMatchObject({ runId, actionName: 'tag_ticket' });
    expect(await waiting()).not.toContain(requestId);
    const { claimId } = (await front.claim(requestId, { actionName: 'tag_ticket', actionArgs: { tag: 'late' } })).body;
    const reported = await front.outcome(requestId, { claimId, outcome: 'failed', result: { why: 'no ticket' } });
    expect(reported.body.sampled).toBe(true);
    expect(await read()).toMatchObject({ outcome: 'failed', resultDigest: expect.stringMatching(/^sha256:/) });
    expect(await waiting()).toContain(requestId);
    expect((await front.verify(runId)).body.intact).toBe(true);
  });

  test('one that was not drawn leaves none', async () => {
    const { requestId } = await asked({ actionName: 'label_ticket', actionArgs: {} });
    expect((await front.get(requestId, 'alice')).body.sampled).toBe(false);
    const { client, samples } = tables();
    expect(
      (await client.send(new GetCommand({ TableName: samples, Key: { sampleId: requestId } }))).Item,
    ).toBeUndefined();
  });
});

describe('the rest of the mission', () => {
  test('holdSeconds: an approval rests before it can be used, and can be taken back meanwhile', async () => {
    const action = { actionName: 'wire', actionArgs: { amount: 1 } };
    const [one, other] = [await asked(action), await asked(action)];
    for (const request of [one, other]) await front.approve(request, 'alice');
    const early = await front.claim(one.requestId, action);
    expect([early.status, early.body.code]).toEqual([409, 'NOT_APPROVED']);
    const { claimableAt } = (await front.get(one.requestId)).body;
    expect(early.body.claimableAt).toBe(claimableAt);
    expect((await front.revoke(other.requestId, 'alice')).status).toBe(200);
    await front.clock(301);
    expect((await front.claim(one.requestId, action)).status).toBe(200);
    expect(codesOf([await front.claim(other.requestId, action)])).toEqual(['NOT_APPROVED']);
  });

  test('agents: nobody else is admitted', async () => {
    const refused = await front.ask({ runId: newRun(), actionName: 'look', actionArgs: {} }, { as: 'billing-bot' });
    expect([refused.status, refused.body.code]).toEqual([403, 'FORBIDDEN']);
  });

  test('requireOutcome: what was used and not reported is said, and holds the run up when it is late', async () => {
    const runId = newRun();
    const look = (n: number) => ({ actionName: 'look', actionArgs: { n } });
    const { requestId } = await asked({ runId, ...look(1) });
    const { claimId } = (await front.claim(requestId, look(1))).body;
    expect((await front.get(requestId)).body.outcomeOwed).toBe(true);
    const listed = async () => (await front.call('GET', `/v1/requests?runId=${runId}`, { as: 'dave' })).body.items[0];
    expect(await listed()).toMatchObject({ requestId, outcomeOwed: true });
    expect((await asked({ runId, ...look(2) })).status).toBe('APPROVED');
    await front.clock(61);
    expect(await asked({ runId, ...look(3) })).toMatchObject({
      status: 'PENDING',
      policy: {
        matched: [{ ruleId: 'run:outcome-owed', effect: 'pause', reason: expect.stringContaining(requestId) }],
      },
    });
    await front.outcome(requestId, { claimId, outcome: 'succeeded' });
    expect((await front.get(requestId)).body).not.toHaveProperty('outcomeOwed');
    expect(await listed()).not.toHaveProperty('outcomeOwed');
    expect((await asked({ runId, ...look(4) })).status).toBe('APPROVED');
    expect((await front.verify(runId)).body.intact).toBe(true);
  });

  test('secretPaths beyond arguments: in no view, list, mail, page or audit; the requester alone reads them', async () => {
    const secrets = ['hunter2', 'swordfish', 'opensesame', 'xyzzy'];
    const runId = newRun();
    const { requestId } = await asked({
      runId,
      actionName: 'import_contacts',
      phase: 'after',
      actionArgs: { password: secrets[0], from: 'crm' },
      metadata: { key: secrets[1] },
      contextSummary: `The key is ${secrets[2]}`,
      actionResult: [{ token: secrets[3] }],
    });
    const found = (value: unknown) => secrets.filter((secret) => JSON.stringify(value).includes(secret));
    const messages = await front.messages(requestId);
    expect(messages.length).toBeGreaterThan(0);
    const seen = {
      view: (await front.get(requestId, 'alice')).body,
      list: (await front.call('GET', `/v1/requests?runId=${runId}`, { as: 'dave' })).body,
      audit: (await front.audit(runId)).body,
      messages,
    };
    expect(found(seen)).toEqual([]);
    expect(JSON.stringify(seen.view)).toMatch(/crm/);
    expect(seen.view).toMatchObject({
      metadata: expect.stringMatching(/^\[hidden by policy/),
      contextSummary: expect.stringMatching(/^\[hidden by policy/),
      actionResult: expect.stringMatching(/^\[hidden by policy/),
    });
    expect(found((await front.get(requestId, 'support-bot')).body)).toEqual(secrets);
    expect((await front.verify(runId)).body.intact).toBe(true);
  });
});
