import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { missionPolicy } from '../../core/policy-document.ts';
import { parsePolicyDocument } from '../../core/policy-yaml.ts';
import { Front } from '../service/harness.ts';
import { holdsPromises, promisedBy, shellBlocks } from './blocks.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'policies.md'), 'utf8');
const files = [...page.matchAll(/^```yaml\n# (\S+)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => ({
  name,
  text,
}));

let front: Front;
let folder: string;
beforeAll(async () => {
  front = await Front.start();
  folder = mkdtempSync(join(tmpdir(), 'countersign-policies-'));
  mkdirSync(join(folder, '.local'));
  writeFileSync(join(folder, '.local', 'service.json'), JSON.stringify(front.urls));
  symlinkSync(join(root, 'cli'), join(folder, 'cli'));
});
afterAll(async () => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  await front?.stop();
});

/** All blocks in one session, in a folder with the files of the page, as a reader would paste them; what each wrote. */
async function outputsOf(codes: readonly string[]): Promise<string[]> {
  const between = '--- end of a block ---';
  const bash = spawn('bash', ['-s'], {
    cwd: folder,
    env: { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
  });
  bash.stdin.end(`set -euo pipefail\n${codes.map((code) => `${code}\necho '${between}'\n`).join('')}`);
  let output = '';
  let errors = '';
  bash.stdout.on('data', (chunk) => {
    output += chunk;
  });
  bash.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const code = await new Promise((resolve) => bash.on('close', resolve));
  expect({ code, errors, output }).toMatchObject({ code: 0, errors: '' });
  return output.split(`${between}\n`).slice(0, -1);
}

test('from the risk matrix to a mission with two rules, everything on the page does what the page says', {
  timeout: 240_000,
}, async () => {
  expect(files.map(({ name }) => name)).toEqual([
    'risks.yaml',
    'cases.yaml',
    'mission.yaml',
    'limits.yaml',
    'first-times.yaml',
  ]);
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
  const codes = shellBlocks(page).map(({ code }) => code);
  expect(codes.flatMap(promisedBy)).toEqual(
    expect.arrayContaining(['allow', 'pause', 'stop', '7 cases, 0 failed', '0 to notice']),
  );

  const outputs = await outputsOf(codes);

  expect(outputs).toHaveLength(codes.length);
  for (const [index, code] of codes.entries()) holdsPromises(code, outputs[index] ?? '');
});

test('every block of the page is a file that is written or a command that is run', () => {
  const fences = page.match(/^```\w+$/gm) ?? [];
  expect(fences).toHaveLength(files.length + shellBlocks(page).length);
});

test('the missions that no command is given are valid, and say what the page says beside them', () => {
  const missionOf = (wanted: string) => {
    const { text = '' } = files.find(({ name }) => name === wanted) ?? {};
    return missionPolicy(parsePolicyDocument(text));
  };
  expect(missionOf('limits.yaml').windows).toHaveLength(2);
  const { agents, requireOutcome, actions } = missionOf('first-times.yaml');
  expect([agents, requireOutcome]).toEqual([new Set(['support-bot']), true]);
  expect(actions.get('add_vendor')).toMatchObject({ policy: 'approval_novel', noveltyKey: ['/vendorId', '/iban'] });
  expect(actions.get('wire_money')).toMatchObject({ holdSeconds: 300 });
});
