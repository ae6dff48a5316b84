import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Front } from '../service/harness.ts';
import { holdsPromises, promisedBy, shellBlocks } from './blocks.ts';

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = shellBlocks(readme);
const withService = blocks.filter(({ needsService }) => needsService).map(({ code }) => code);

const outputLine =
  'output() { aws cloudformation describe-stacks --stack-name Countersign --query "Stacks[0].Outputs[?OutputKey==\'$1\'].OutputValue" --output text; }';

/** Blocks that are not run here, by their first line, and why not. */
const runElsewhere: Readonly<Record<string, string>> = {
  'npm ci && npm start': 'a fresh install; test/local/service-start.test.ts plays what it starts',
  'npm ci && npm test': 'would run itself; .ci/run runs it',
  'npx cdk bootstrap   # once per account and region':
    'needs an AWS account; test/stack synthesises and reads what it would deploy',
  [outputLine]: 'needs a deployed user pool; test/stack reads its outputs',
};

let front: Front;
let folder: string;

beforeAll(async () => {
  front = await Front.start();
  folder = mkdtempSync(join(tmpdir(), 'countersign-readme-'));
  mkdirSync(join(folder, '.local'));
  writeFileSync(join(folder, '.local', 'service.json'), JSON.stringify(front.urls));
});
afterAll(async () => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  await front?.stop();
});

/** All blocks in one session, as a reader would paste them; what each wrote. */
async function outputsOf(codes: readonly string[]): Promise<string[]> {
  const between = '--- end of a block ---';
  const script = codes.map((code) => `${code}\necho '${between}'\n`).join('');
  const bash = spawn('bash', ['-s'], {
    cwd: folder,
    env: { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
  });
  bash.stdin.end(`set -euo pipefail\n${script}`);
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

test('what an agent, an approver and an auditor type does what the README says', async () => {
  const outputs = await outputsOf(withService);

  expect(outputs).toHaveLength(withService.length);
  for (const [index, code] of withService.entries()) holdsPromises(code, outputs[index] ?? '');
  expect(withService.flatMap(promisedBy)).toEqual(expect.arrayContaining(['pause', 'APPROVED', 'allow', 'succeeded']));
  const all = outputs.join('\n');
  expect(all).toContain('"claimId":"ticket-81-mail-1"');
  expect(all).toContain('"effectiveArgs":{');
  expect(outputs.at(-1)).toContain('"intact":true');
});

test('every other block is one that is known to run elsewhere, and each of those is in the README', () => {
  const others = blocks.filter(({ needsService }) => !needsService).map(({ code }) => code);
  expect(others.map((code) => code.split('\n')[0] ?? '').toSorted()).toEqual(Object.keys(runElsewhere).toSorted());
});

test('a block that is not run is shell all the same, and names only outputs that there are', () => {
  const others = blocks.filter(({ needsService }) => !needsService).map(({ code }) => code);
  for (const code of others) expect(spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' }).stderr).toBe('');
  const named = others.flatMap((code) => [...code.matchAll(/\$\(output (\w+)\)/g)].map(([, name]) => name));
  expect(named).toEqual(['UserPoolId', 'AgentClientId', 'TokenUrl']);
  const source = readFileSync(join(root, 'lib', 'identity.ts'), 'utf8');
  for (const name of named) expect(source).toContain(`overrideLogicalId('${name}')`);
});

test('every npm script and every file that the README names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const named = [...readme.matchAll(/npm (?:run ([\w:-]+)|(start|test)\b)/g)].map(
    ([, script, short]) => script ?? short ?? '',
  );
  expect(named).toEqual(expect.arrayContaining(['start', 'test', 'test:pages']));
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  const files = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => path);
  expect(files).not.toEqual([]);
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('a command that fails is seen, also in the middle of a pipe', async () => {
  await expect(outputsOf(['false | cat'])).rejects.toThrow();
  await expect(outputsOf(['curl -s --fail http://127.0.0.1:9 | cat\necho on'])).rejects.toThrow();
});

test('an output that is not as promised is seen', () => {
  const code = '# needs the running service\necho one   # pause\necho two   # {"intact":true,…}\n';
  expect(promisedBy(code)).toEqual(['pause', '{"intact":true,…}']);
  expect(() => holdsPromises(code, 'pause\n{"intact":true,"entries":4}\n')).not.toThrow();
  expect(() => holdsPromises(code, 'allow\n{"intact":true,"entries":4}\n')).toThrow('promises pause');
  expect(() => holdsPromises(code, 'pause\n{"intact":false,"entries":4}\n')).toThrow('promises {"intact":true');
  expect(() => holdsPromises(code, '{"intact":true,"entries":4}\npause\n')).toThrow('promises {"intact":true');
});
