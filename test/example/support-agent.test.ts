import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEntry, connect } from '../../examples/support-agent/countersign.ts';
import { runExample } from '../../examples/support-agent/main.ts';
import type { Answer } from '../../examples/support-agent/people.ts';
import { type Service, startService } from '../../local/service.ts';
import { deedsIn, interruptAgent, runAgent, runIdIn } from './agent-process.ts';

let service: Service;
let parent: string;
let folders = 0;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'support-agent-'));
  service = await startService();
});
afterAll(async () => {
  await service?.stop();
  await rm(parent, { recursive: true, force: true });
});
const newFolder = () => join(parent, String(++folders));

async function run(answer: Answer) {
  const folder = newFolder();
  const lines: string[] = [];
  const result = await runExample(service.description, { answer, folder, print: (line) => lines.push(line) });
  return { ...result, text: lines.join('\n'), ...(await deedsIn(folder)) };
}

const auditor = () => connect(service.description.apiUrl, service.description.tokens.dave ?? '');
const auditOf = (runId: string): Promise<AuditEntry[]> => auditor().audit(runId);
const typesOf = (entries: AuditEntry[]) => entries.map(({ type, actor }) => `${type} by ${actor.id}`);

describe('the support agent', () => {
  it('acts once on what people approved, and shows the verified audit of its run', async () => {
    const { runId, results, verification, text, mails, refunds } = await run('yes');

    expect(results.map(({ acted }) => acted)).toEqual([true, true, true, true]);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toContain('To: ada.moreau@customer.example');
    expect(refunds).toMatchObject([{ customerId: 'C-77', orderId: 'O-5513', amount: 49.9, cardEnding: '4242' }]);
    const entries = await auditOf(runId);
    expect(typesOf(entries).slice(6)).toEqual([
      'request_created by support-bot',
      'request_approved by alice',
      'approval_claimed by support-bot',
      'outcome_reported by support-bot',
      'request_created by support-bot',
      'vote_recorded by alice',
      'request_approved by bob',
      'approval_claimed by support-bot',
      'outcome_reported by support-bot',
    ]);
    expect(verification).toMatchObject({ intact: true, entries: entries.length });
    for (const { requestId } of results.slice(2))
      expect(text).toContain(`${service.description.webUrl}/r/${requestId}`);
    for (const { hash } of entries) expect(text).toContain(hash.slice(0, 12));
    expect(text).toContain('2 × support_manager (alice, bob)');
    expect(text).toContain('approved by alice and bob');
    expect(text).toContain(`chain intact, ${entries.length} entries`);
    expect(text).not.toContain('4242 4242');
  });

  it('does not act where somebody said no, and says who and why', async () => {
    const { runId, results, verification, text, mails, refunds } = await run('no');

    expect(results.map(({ acted }) => acted)).toEqual([true, true, false, false]);
    expect([mails, refunds]).toEqual([[], []]);
    expect(text).toContain(
      'not done: alice said no: "The second charge was cancelled this morning. Please check first."',
    );
    expect(typesOf(await auditOf(runId)).filter((type) => type.endsWith('alice'))).toEqual([
      'request_rejected by alice',
      'request_rejected by alice',
    ]);
    expect(verification.intact).toBe(true);
  });

  it('CASE 36: does not act where nobody answered at any level, and tells of no refusal', async () => {
    const { runId, results, verification, text, mails, refunds } = await run('silence');

    expect(results.map(({ acted }) => acted)).toEqual([true, true, false, false]);
    expect([mails, refunds]).toEqual([[], []]);
    expect(typesOf(await auditOf(runId)).filter((type) => type.endsWith('sweep'))).toEqual([
      'request_timed_out by sweep',
      'request_escalated by sweep',
      'request_timed_out by sweep',
    ]);
    expect(text).toContain('2 × senior_manager (carol, frank)');
    expect(text.match(/not done: nobody answered by/g)).toHaveLength(2);
    expect(text).not.toMatch(/reject|refus|declin|denied|said no/i);
    expect(text).toContain('the local clock is moved past each deadline');
    expect(verification.intact).toBe(true);
  });
});

describe('a support agent that is killed', () => {
  const claim = /^POST .*\/claim$/;
  const outcome = /^POST .*\/outcome$/;
  const wait = /^GET .*\?wait=/;

  // The third claim and outcome are the e-mail's, the fourth the refund's.
  it.each([
    { place: 'while it waits for people', call: wait, nth: 1, when: 'before it arrives' },
    { place: 'between the approval and the claim', call: claim, nth: 3, when: 'before it arrives' },
    { place: 'between the claim and the e-mail', call: claim, nth: 3, when: 'before its answer' },
    { place: 'between the e-mail and its outcome', call: outcome, nth: 3, when: 'before it arrives' },
    { place: 'between the claim and the refund', call: claim, nth: 4, when: 'before its answer' },
    { place: 'between the refund and its outcome', call: outcome, nth: 4, when: 'before it arrives' },
    { place: 'before it hears that the outcome is kept', call: outcome, nth: 4, when: 'before its answer' },
  ] as const)('$place goes on in another process and acts once', async (crash) => {
    const folder = newFolder();
    const first = await runAgent(service.description, folder, ['--answer', 'yes'], crash);
    expect(first).toMatchObject({ signal: 'SIGKILL' });
    const runId = runIdIn(first.output);

    const second = await runAgent(service.description, folder, ['--answer', 'yes', '--run', runId]);

    expect(second).toMatchObject({ code: 0 });
    const { mails, refunds } = await deedsIn(folder);
    expect([mails.length, refunds.length]).toEqual([1, 1]);
    const types = (await auditOf(runId)).map(({ type }) => type);
    for (const once of ['request_created', 'approval_claimed', 'outcome_reported'])
      expect(types.filter((type) => type === once)).toHaveLength(4);
    expect(second.output).toContain(`chain intact, ${types.length} entries`);
  });

  it('sends the e-mail again where its own record of it was lost: that record is the guard', async () => {
    const folder = newFolder();
    const crash = { call: outcome, nth: 3, when: 'before it arrives' } as const;
    const first = await runAgent(service.description, folder, ['--answer', 'yes'], crash);
    const outbox = join(folder, 'outbox');
    const [sent = ''] = await readdir(outbox);
    await rm(join(outbox, sent));

    const second = await runAgent(service.description, folder, ['--answer', 'yes', '--run', runIdIn(first.output)]);

    expect(second.output).toContain('"sent":"now"');
    expect(await readdir(outbox)).toEqual([sent]);
  });
});

describe('a run', () => {
  it('is worked on by one process at a time', async () => {
    const folder = newFolder();
    const stop = new AbortController();
    const lines: string[] = [];
    const waiting = runExample(service.description, { folder, signal: stop.signal, print: (line) => lines.push(line) });
    const ended = waiting.catch((error: unknown) => error);
    await expect.poll(() => lines.join('\n'), { timeout: 20_000 }).toContain('decide here:');
    const runId = runIdIn(lines.join('\n'));

    const second = await runAgent(service.description, folder, ['--answer', 'yes', '--run', runId]);
    expect(second).toMatchObject({ code: 1, output: expect.stringContaining(`run ${runId} is being worked on`) });

    stop.abort(new Error('enough'));
    expect(await ended).toMatchObject({ message: 'enough' });
    const third = await runAgent(service.description, folder, ['--answer', 'no', '--run', runId]);
    expect(third).toMatchObject({ code: 0 });
    expect(await deedsIn(folder)).toEqual({ mails: [], refunds: [] });
  });

  it.each<[string, string[], (runId: string, folder: string) => string]>([
    [
      'the whole command, where it was started alone',
      [],
      (runId, folder) =>
        `node examples/support-agent/main.ts --service ${join(folder, 'service.json')} --folder ${folder} --run ${runId}`,
    ],
    ['what npm start says', ['--go-on-by', 'npm start -- --data d'], (runId) => `npm start -- --data d --run ${runId}`],
    ['that nothing does', ['--go-on-by', ''], (runId) => `run ${runId} ends with the service, whose data nobody kept`],
  ])('that is interrupted names %s as going on with it', async (_what, more, words) => {
    const folder = newFolder();
    const { code, output } = await interruptAgent(service.description, folder, more);
    expect([code, output.trimEnd()]).toEqual([1, expect.stringContaining(words(runIdIn(output), folder))]);
  });

  it('that nobody knows is refused with the folder that was searched', async () => {
    const folder = newFolder();
    const { code, output } = await runAgent(service.description, folder, ['--run', 'T-0']);
    expect([code, output]).toEqual([1, expect.stringContaining(`there is no run T-0 in ${folder}`)]);
  });
});
