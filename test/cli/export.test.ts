import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../client/countersign.ts';
import { Front, newRun, refund } from '../service/harness.ts';
import { countersign, Folder } from './command-line.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start();
});
afterAll(() => front?.stop());

const client = (who: string) => connect({ apiUrl: front.urls.apiUrl, token: front.urls.tokens[who] ?? '' });
const exported = (out: string, more: string[] = []) =>
  countersign(['export', 'requests', '--api', front.urls.apiUrl, '--out', out, ...more], {
    env: { COUNTERSIGN_TOKEN: front.urls.tokens.dave ?? '' },
  });

test('what was asked and decided is exported, resumed after a cut, and answers a backtest with the exact matrix', async () => {
  using folder = new Folder();
  const bot = client('support-bot');
  const runId = newRun();
  const card = { number: '4111111111111111' };
  const ask = (amount: number) =>
    bot.requests.create({ runId, ...refund(amount), actionArgs: { ...refund(amount).actionArgs, amount, card } });
  const answer = async (amount: number, decision: 'approve' | 'reject') => {
    const { requestId, effectiveDigest } = await ask(amount);
    const people = decision === 'approve' ? ['alice', 'bob'] : ['alice'];
    for (const who of people)
      await client(who).requests.decide(
        requestId,
        decision === 'approve' ? { decision, argsDigest: effectiveDigest } : { decision, note: 'no' },
      );
    return requestId;
  };
  const small = await answer(20, 'approve');
  await answer(900, 'approve');
  const refused = await answer(30, 'reject');
  await answer(6000, 'reject');
  await bot.requests.create({ runId, actionName: 'read_customer_record', actionArgs: {} });
  const waiting = await ask(40);

  const out = join(folder.path, 'export.jsonl');
  expect(await exported(out)).toMatchObject({
    code: 0,
    out: '',
    errors: expect.stringContaining('5 requests written'),
  });
  const text = readFileSync(out, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(5);
  expect(text).not.toContain(waiting.requestId);
  expect(text).not.toContain(card.number);
  expect(lines.find(({ requestId }) => requestId === small)).toMatchObject({
    actionArgs: { amount: 20, card: { number: '[hidden by policy, 16 characters]' } },
    decision: { source: 'human', decidedBy: ['alice', 'bob'] },
  });

  writeFileSync(out, text.slice(0, text.indexOf('\n', text.indexOf('\n') + 1) + 40));
  expect(await exported(out, ['--resume'])).toMatchObject({
    code: 0,
    errors: expect.stringContaining('3 requests written to'),
  });
  const resumed = readFileSync(out, 'utf8');
  expect(resumed.trimEnd().split('\n').toSorted()).toEqual(text.trimEnd().split('\n').toSorted());

  const policy = folder.file(
    'policy.yaml',
    `
mission: default
defaults: { approverRole: support_manager }
actions:
  read_customer_record: { policy: approval_gate, reason: Personal data }
  issue_refund:
    policy: dual_approval
    reason: Money
    rules:
      - { id: small, when: 'args.amount <= 50.0', then: allow }
      - { id: huge, when: 'args.amount > 5000.0', then: stop }
`,
  );
  const { code, out: report } = await countersign(['policy', 'backtest', policy, '--from', out, '--list']);
  expect(code).toBe(1);
  expect(report).toMatch(/^ran +0 +1 +0$/m);
  expect(report).toMatch(/^approved +1 +1 +0$/m);
  expect(report).toMatch(/^refused +1 +0 +1$/m);
  expect(report).toMatch(/^prompt vanishes +1$/m);
  expect(report).toMatch(new RegExp(`^${refused} +refusal let through +refused +allow +small `, 'm'));
  expect(report).toContain('5 requests, 4 would go otherwise');
  expect(report).toContain('4 with hidden values');
});

test('only what was asked since; a refusal of the service is exit code 1', async () => {
  using folder = new Folder();
  const out = join(folder.path, 'export.jsonl');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  expect(await exported(out, ['--since', tomorrow])).toMatchObject({
    code: 0,
    errors: expect.stringContaining('0 requests written'),
  });
  const nobody = await exported(out, ['--token', 'none']);
  expect(nobody.code).toBe(1);
  expect(nobody.errors).toContain('go on with --resume');
  expect(await exported(out, ['--since', 'yesterday'])).toMatchObject({ code: 2 });
});

test('the client reads, simulates and publishes policies', async () => {
  const step = { ...refund(10) };
  const simulation = await client('erin').policies.simulate('default', step);
  expect(simulation).toMatchObject({ verdict: 'pause', approvals: [{ role: 'support_manager', count: 2 }] });
  expect((await client('dave').policies.get('default')).document).toMatchObject({ mission: 'default' });
  const yaml = 'mission: client-test\ndefaults: { approverRole: clerk }\nactions: {}\n';
  expect(await client('erin').policies.publish('client-test', { yaml })).toMatchObject({ missionId: 'client-test' });
  await expect(client('erin').policies.publish('other', { yaml })).rejects.toMatchObject({
    code: 'POLICY_INVALID',
    status: 422,
  });
});
