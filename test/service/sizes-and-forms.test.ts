import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalJson } from '../../core/canonical-json.ts';
import { codeOf } from './answers.ts';
import { type Answer, email, Front, newRun, refund } from './harness.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start();
});
afterAll(() => front?.stop());

const KiB = 1024;
const asked = async (body: object) => (await front.ask(body)).body;
const tooLarge = (field: string, bytes: number, limit: number) => ({
  status: 413,
  body: { code: 'PAYLOAD_TOO_LARGE', field, bytes, limit, detail: expect.stringContaining(`at most ${limit}`) },
});

/** Arguments whose canonical form has exactly so many bytes; multi-byte characters and escapes among them. */
function argsOf(bytes: number): { text: string } {
  const start = 'ä€\u{1F642}\n"';
  return { text: start.padEnd(start.length + bytes - Buffer.byteLength(canonicalJson({ text: start })), 'x') };
}

describe('what is too large is refused with its limit, and never cut', () => {
  test('arguments of exactly 256 KiB are stored, shown, decided and claimed whole; one byte more is refused', async () => {
    const actionArgs = argsOf(256 * KiB);
    const request = await asked(email({ runId: newRun(), actionArgs }));
    expect(Buffer.byteLength(canonicalJson(request.actionArgs))).toBe(256 * KiB);
    expect(request.actionArgs).toEqual(actionArgs);
    expect((await front.get(request.requestId, 'alice')).body.effectiveArgs).toEqual(actionArgs);
    await front.approve(request, 'alice');
    const claim = await front.claim(request.requestId, email({ actionArgs }));
    expect(claim).toMatchObject({ status: 200, body: { effectiveArgs: actionArgs } });

    const runId = newRun();
    const refused = await front.ask(email({ runId, actionArgs: argsOf(256 * KiB + 1) }));
    expect(refused).toMatchObject(tooLarge('actionArgs', 256 * KiB + 1, 256 * KiB));
    expect((await front.audit(runId)).status).toBe(404);
  });

  test('an edit has the same limit as a question', async () => {
    const request = await asked(refund(1, { runId: newRun() }));
    const edit = (editedArgs: object) =>
      front.decide(request.requestId, 'alice', { decision: 'edit', argsDigest: request.argsDigest, editedArgs });
    expect(await edit(argsOf(256 * KiB + 1))).toMatchObject(tooLarge('actionArgs', 256 * KiB + 1, 256 * KiB));
    const edited = await edit(argsOf(256 * KiB));
    expect(edited).toMatchObject({ status: 200, body: { status: 'PENDING', effectiveArgs: argsOf(256 * KiB) } });
  });

  test('a summary has 8 KiB in UTF-8, not in characters', async () => {
    const summary = (bytes: number) => 'é'.repeat(bytes >> 1) + 'x'.repeat(bytes % 2);
    const just = await front.ask(email({ runId: newRun(), contextSummary: summary(8 * KiB) }));
    expect(just).toMatchObject({ status: 201, body: { contextSummary: summary(8 * KiB) } });
    const over = await front.ask(email({ runId: newRun(), contextSummary: summary(8 * KiB + 1) }));
    expect(over).toMatchObject(tooLarge('contextSummary', 8 * KiB + 1, 8 * KiB));
  });

  test('notes and responses have 16 KiB, with every word', async () => {
    const request = await asked(email({ runId: newRun() }));
    const { requestId, argsDigest } = request;
    const [just, over] = ['n'.repeat(16 * KiB), 'n'.repeat(16 * KiB + 1)];
    const words = [
      { decision: 'approve' },
      { decision: 'reject' },
      { decision: 'edit', editedArgs: {} },
      { decision: 'respond', response: 1 },
    ];
    for (const word of words)
      expect(await front.decide(requestId, 'alice', { ...word, argsDigest, note: over })).toMatchObject(
        tooLarge('note', 16 * KiB + 1, 16 * KiB),
      );
    const long: [unknown, number][] = [
      ['r'.repeat(16 * KiB + 1), 16 * KiB + 1],
      [['r'.repeat(16 * KiB)], 16 * KiB + 4],
    ];
    for (const [response, bytes] of long)
      expect(await front.decide(requestId, 'alice', { decision: 'respond', argsDigest, response })).toMatchObject(
        tooLarge('response', bytes, 16 * KiB),
      );
    expect((await front.get(requestId)).body).toMatchObject({ status: 'PENDING', votes: [] });
    const approved = await front.decide(requestId, 'alice', { decision: 'approve', argsDigest, note: just });
    expect(approved.body.decision.note).toBe(just);
    expect(await front.revoke(requestId, 'alice', over)).toMatchObject(tooLarge('note', 16 * KiB + 1, 16 * KiB));
    expect((await front.revoke(requestId, 'alice', just)).body.decision.note).toBe(just);
  });

  test('a body has 1 MiB, before anybody looks into it', async () => {
    const { requestId } = await asked(email({ runId: newRun() }));
    const limit = 1024 * KiB;
    const body = JSON.stringify({ note: 'x'.repeat(limit) });
    const answers = [
      await front.ask(body),
      await front.decide(requestId, 'alice', body),
      await front.call('POST', `/v1/requests/${requestId}/revocation`, { as: 'alice' }, body),
      await front.call('POST', `/v1/requests/${requestId}/cancellation`, { as: 'support-bot' }, body),
      await front.call('POST', `/v1/requests/${requestId}/claim`, { as: 'support-bot' }, body),
      await front.call('POST', `/v1/requests/${requestId}/outcome`, { as: 'support-bot' }, body),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 413,
        body: { code: 'PAYLOAD_TOO_LARGE', limit, detail: expect.stringContaining(String(limit)) },
      });
    const question = JSON.stringify(email({ runId: newRun() }));
    const justFits = question + ' '.repeat(limit - Buffer.byteLength(question));
    expect(codeOf(await front.ask(justFits))).toBe(201);
    expect(codeOf(await front.ask(`${justFits} `))).toBe('PAYLOAD_TOO_LARGE');
  });

  test('a run of many large requests can be audited and verified to its end', async () => {
    const runId = newRun();
    const actionArgs = argsOf(250 * KiB);
    for (let n = 0; n < 28; n++)
      expect((await front.ask(email({ runId, actionArgs, metadata: { n } }))).status).toBe(201);

    const found: Answer['body'][] = [];
    for (let cursor = ''; cursor !== undefined; ) {
      const { status, body } = await front.audit(runId, cursor && `?cursor=${cursor}`);
      expect(status).toBe(200);
      found.push(...body.items);
      cursor = body.cursor;
    }

    expect(found.map(({ sequence }) => sequence)).toEqual(found.map((_, index) => index + 1));
    expect(found).toHaveLength(28);
    for (const { contents, details } of found) expect(contents[details.actionDigest].actionArgs).toEqual(actionArgs);
    expect((await front.verify(runId)).body).toMatchObject({ intact: true, entries: 28 });
  });
});

describe('what is not JSON in UTF-8 is another media type', () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/problem+json',
    'text/json',
  ];
  test.each(types)('%s is refused on every route that writes', async (type) => {
    const { requestId } = await asked(email({ runId: newRun() }));
    const headers = { 'content-type': type };
    const routes: [string, string][] = [
      ['support-bot', '/v1/requests'],
      ['alice', `/v1/requests/${requestId}/decision`],
      ['alice', `/v1/requests/${requestId}/revocation`],
      ['support-bot', `/v1/requests/${requestId}/cancellation`],
      ['support-bot', `/v1/requests/${requestId}/claim`],
      ['support-bot', `/v1/requests/${requestId}/outcome`],
    ];
    for (const [as, path] of routes) {
      const { status, body } = await front.call('POST', path, { as, headers }, '{}');
      expect([path, status, body.code]).toEqual([path, 415, 'UNSUPPORTED_MEDIA_TYPE']);
      expect(body.detail).toContain('application/json');
    }
  });

  test('application/json with UTF-8 said aloud is understood; cancelling and revoking need no body', async () => {
    const headers = { 'content-type': 'Application/JSON; charset="UTF-8"' };
    const request = (await front.ask(email({ runId: newRun() }), { headers })).body;
    expect(request.status).toBe('PENDING');
    const cancelled = await front.call('POST', `/v1/requests/${request.requestId}/cancellation`, { as: 'support-bot' });
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'CANCELLED' } });
    const other = await asked(email({ runId: newRun() }));
    await front.approve(other, 'alice');
    const revoked = await front.call('POST', `/v1/requests/${other.requestId}/revocation`, { as: 'alice' });
    expect(revoked).toMatchObject({ status: 200, body: { status: 'REVOKED' } });
  });
});
