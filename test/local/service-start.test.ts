import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { synthesiseOnce } from '../../local/cached-synth.ts';
import { localFolder } from '../../local/local-folder.ts';
import type { Message } from '../../local/mailbox.ts';
import { type Service, type ServiceDescription, startService } from '../../local/service.ts';
import { readTemplate } from '../../local/template.ts';

const json = { 'content-type': 'application/json' };

function createAt({ apiUrl, tokens }: ServiceDescription, runId: string): Promise<Response> {
  return fetch(`${apiUrl}/v1/requests`, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${tokens['support-bot']}` },
    body: JSON.stringify({
      runId,
      actionName: 'send_customer_email',
      actionArgs: { to: 'ann@example.org', body: 'Hello' },
    }),
  });
}

interface Created {
  requestId: string;
  requestedAt: string;
}

describe('the service', () => {
  let service: Service;
  let description: ServiceDescription;
  beforeAll(async () => {
    service = await startService();
    description = service.description;
  });
  afterAll(() => service?.stop());

  const control = (method: string, path: string, body?: unknown) =>
    fetch(description.controlUrl + path, {
      method,
      ...(body === undefined ? {} : { headers: json, body: JSON.stringify(body) }),
    });
  const create = async (runId: string) => (await (await createAt(description, runId)).json()) as Created;
  const messagesOf = async (requestId: string) =>
    ((await (await fetch(`${description.mailboxUrl}/messages`)).json()) as Message[]).filter(
      (message) => message.requestId === requestId,
    );

  test('what an agent asks for reaches the people whose role it is, and nobody else', async () => {
    const answer = await createAt(description, 'start-1');
    expect(answer.status).toBe(201);
    const { requestId } = (await answer.json()) as Created;
    await expect.poll(() => messagesOf(requestId), { timeout: 20_000 }).toHaveLength(3);
    const seen = await messagesOf(requestId);
    expect(seen.map(({ to }) => to).sort()).toEqual(['+491701234501', 'alice@example.org', 'frank@example.org']);
    for (const { text } of seen) expect(text).toContain(`${description.webUrl}/r/${requestId}`);
  });

  test('every route of the template that needs a token refuses without one', async () => {
    const routes = service.template.ofType('AWS::ApiGatewayV2::Route');
    const guarded = routes.filter(({ properties }) => properties.AuthorizationType === 'JWT');
    expect(guarded.length).toBeGreaterThan(5);
    for (const { properties } of guarded) {
      const [method, path = ''] = String(properties.RouteKey).split(' ');
      const answer = await fetch(description.apiUrl + path.replace(/\{\w+\}/g, 'x'), { method });
      expect([properties.RouteKey, answer.status, await answer.text()]).toEqual([
        properties.RouteKey,
        401,
        '{"message":"Unauthorized"}',
      ]);
    }
  });

  test('with the stream off an alert waits; on again, it leaves', async () => {
    expect((await control('PUT', '/stream', { enabled: false })).status).toBe(200);
    const { requestId } = await create('start-2');
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await messagesOf(requestId)).toEqual([]);
    await control('PUT', '/stream', { enabled: true });
    await expect.poll(() => messagesOf(requestId), { timeout: 20_000 }).toHaveLength(3);
  });

  test('the clock that the functions see moves, and moves back', async () => {
    await control('PUT', '/clock', { offsetSeconds: 86_400 });
    const tomorrow = Date.parse((await create('start-3')).requestedAt) - Date.now();
    await control('PUT', '/clock', { offsetSeconds: 0 });
    const today = Date.parse((await create('start-3-later')).requestedAt) - Date.now();
    expect(Math.round(tomorrow / 3_600_000)).toBe(24);
    expect(Math.abs(today)).toBeLessThan(60_000);
  });

  test('the meter counts what one create costs, and starts again at nothing', async () => {
    await create('start-4');
    await control('DELETE', '/meter');
    await create('start-4-later');
    const meter = (await (await control('GET', '/meter')).json()) as {
      functions: Record<string, Record<string, { calls: number }>>;
    };
    expect(meter.functions.requests?.TransactWriteItems?.calls).toBe(1);
  });

  test('a function can be run by its short name', async () => {
    expect(await (await control('POST', '/invoke/sweep')).json()).toMatchObject({ failed: [] });
  });

  test.each([
    ['POST', '/invoke/sweeper', undefined, 404, 'there are requests, decisions'],
    ['POST', '/meter', undefined, 404, 'GET /meter, DELETE /meter'],
    ['PUT', '/clock', { offset: 1 }, 400, 'offsetSeconds'],
    ['PUT', '/stream', { enabled: 'no' }, 400, 'boolean'],
    ['PUT', '/faults', [{ operation: 'Nothing' }], 400, 'TransactWriteItems'],
  ])('%s %s says what is allowed', async (method, path, body, status, words) => {
    const answer = await control(method, path, body);
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
      status,
      expect.stringContaining(words),
    ]);
  });

  test('two services run beside each other, and one’s end leaves the other', async () => {
    const other = await startService();
    expect(other.description.apiUrl).not.toBe(description.apiUrl);
    expect((await createAt(other.description, 'start-5')).status).toBe(201);
    const strange = { ...description, tokens: other.description.tokens };
    expect((await createAt(strange, 'start-5')).status).toBe(401);
    await other.stop();
    await expect(fetch(other.dynamodbUrl)).rejects.toThrow();
    expect((await createAt(description, 'start-6')).status).toBe(201);
  });
});

describe('npm start', () => {
  let taken: Server;
  beforeAll(async () => {
    taken = createServer();
    // Whoever has it already does as well.
    await new Promise<void>((resolve) => taken.once('error', () => resolve()).listen(8790, '127.0.0.1', resolve));
  });
  afterAll(() => taken.close());

  function start(...options: string[]) {
    const child = spawn(process.execPath, ['local/start.ts', ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
    const said: string[] = [];
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => said.push(String(chunk)));
    const code = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, code, said: () => said.join('') };
  }

  const childrenOf = ({ pid }: ChildProcess) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);

  test.skipIf(process.platform !== 'linux')(
    'says where everything is and which ports were taken; Ctrl-C ends all of it',
    async () => {
      const { child, code, said } = start('--no-example');
      await expect.poll(said, { timeout: 60_000 }).toContain('Ctrl-C ends everything');
      expect(said()).toContain('Port 8790 (control) is in use');
      const file = /^ {2}tokens +(\S+)$/m.exec(said())?.[1] ?? '';
      const description = JSON.parse(readFileSync(file, 'utf8')) as ServiceDescription;
      expect((await createAt(description, 'start-7')).status).toBe(201);
      const engines = childrenOf(child);
      expect(engines).not.toEqual([]);
      child.kill('SIGINT');
      expect(await code).toBe(0);
      for (const engine of engines) expect(existsSync(`/proc/${engine}`)).toBe(false);
      expect(existsSync(file)).toBe(false);
    },
  );

  test('--help, and an option that there is not', async () => {
    const help = start('--help');
    expect(await help.code).toBe(0);
    expect(help.said()).toContain('--data DIR');
    const wrong = start('--dta', 'x');
    expect(await wrong.code).toBe(1);
    expect(wrong.said()).toMatch(/^Unknown option '--dta'; the options are [^\n]+\n$/);
  });
});

test('a folder that is synthesised again in the same process holds its bundles again', async () => {
  const issuer = 'http://localhost:18999';
  const folder = join(localFolder, 'cdk.out-again');
  for (const _round of [1, 2]) {
    rmSync(join(folder, 'made-from.sha256'), { force: true });
    await synthesiseOnce(issuer, folder);
    const template = readTemplate(folder, { apiEndpoint: 'http://localhost:1', issuer });
    for (const resource of template.ofType('AWS::Lambda::Function'))
      expect(readdirSync(template.assetFolder(resource))).toContain('index.js');
  }
});
