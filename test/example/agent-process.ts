import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Service } from '../../examples/support-agent/people.ts';
import { type CrashPoint, crashProxy } from './crash-proxy.ts';

const main = join(import.meta.dirname, '..', '..', 'examples', 'support-agent', 'main.ts');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
}

/** Runs the agent as a process of its own, and kills it (SIGKILL) at the crash point, where one is given. */
export async function runAgent(service: Service, folder: string, more: string[], crash?: CrashPoint): Promise<Ended> {
  await mkdir(folder, { recursive: true });
  const end = () => child?.kill('SIGKILL');
  const proxy = crash && (await crashProxy(service.apiUrl, crash, end));
  const description = join(folder, 'service.json');
  await writeFile(description, JSON.stringify({ ...service, apiUrl: proxy?.url ?? service.apiUrl }));
  const child = spawn(process.execPath, [main, '--service', description, '--folder', folder, ...more]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  proxy?.close();
  return { code, signal, output };
}

/** Runs the agent, and presses Ctrl-C when it waits for people. */
export async function interruptAgent(service: Service, folder: string, more: string[]): Promise<Ended> {
  await mkdir(folder, { recursive: true });
  const description = join(folder, 'service.json');
  await writeFile(description, JSON.stringify(service));
  const child = spawn(process.execPath, [main, '--service', description, '--folder', folder, ...more]);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (text.includes('decide here:')) child.kill('SIGINT');
    });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, output };
}

export const runIdIn = (output: string): string => /^Run (\S+):/m.exec(output)?.[1] ?? '';

/** What the agent's tools did, as their files show it. */
export async function deedsIn(folder: string): Promise<{ mails: string[]; refunds: Record<string, unknown>[] }> {
  const outbox = join(folder, 'outbox');
  const files = await readdir(outbox);
  const refunds = await readFile(join(folder, 'refunds.jsonl'), 'utf8').catch(() => '');
  return {
    mails: await Promise.all(files.map((file) => readFile(join(outbox, file), 'utf8'))),
    refunds: refunds
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  };
}
