import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { policyFile } from '../../adapters/environment.ts';
import { bundleFunctions } from '../../lib/bundles.ts';
import { environmentOf, type FunctionName, functions } from '../../lib/functions.ts';
import { readPolicy } from '../../lib/policy.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const policy = readPolicy('policies/default.yaml');
const bundles = bundleFunctions(join(folder, 'one'), policy.json);
const names = Object.keys(functions) as FunctionName[];
const code = (name: FunctionName) => readFileSync(join(bundles[name], 'index.js'), 'utf8');

const values = {
  requestsTable: 'requests',
  auditTable: 'audit',
  policiesTable: 'policies',
  samplesTable: 'samples',
  escalationsTable: 'escalations',
  alertsTopic: 'arn:aws:sns:eu-central-1:000000000000:alerts',
  webUrl: 'https://approvals.example',
  issuer: 'https://id.example',
  audience: 'web agents',
  webClientId: 'web',
  nameClaim: 'sub',
  rolesClaim: 'roles',
  scopePrefix: 'countersign/',
};

/** Starts a function as Lambda does: its folder, the variables that the stack gives it, and no other. */
function start(name: FunctionName, without?: string): { handler?: unknown } {
  const variables: Record<string, string> = environmentOf(name, values);
  for (const variable of Object.keys(environmentOf('pages', values))) vi.stubEnv(variable, undefined);
  for (const [variable, value] of Object.entries(variables)) {
    vi.stubEnv(variable, variable === without ? undefined : value);
  }
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('LAMBDA_TASK_ROOT', bundles[name]);
  const load = createRequire(join(bundles[name], 'index.js'));
  delete load.cache[join(bundles[name], 'index.js')];
  return load('./index.js');
}

describe('the bundles', () => {
  it.each(names)('%s starts with the variables that the stack gives it, and with no fewer', (name) => {
    expect(start(name).handler).toBeTypeOf('function');
    for (const variable of Object.keys(environmentOf(name, values))) {
      expect(() => start(name, variable), `${name} without ${variable}`).toThrow(variable);
    }
  });

  it('hold the checked policy beside each handler', () => {
    for (const name of names) expect(readFileSync(join(bundles[name], policyFile), 'utf8')).toBe(policy.json);
  });

  it('are the same bytes wherever they are built, so that nothing is deployed without a reason', () => {
    const again = bundleFunctions(join(folder, 'two', 'deeper'), policy.json);
    for (const name of names) expect(readFileSync(join(again[name], 'index.js'), 'utf8')).toBe(code(name));
  });

  it('hold no YAML parser but where policies are published, no zod locale but English, and no framework where there is no page', () => {
    for (const name of names) {
      expect(code(name).includes('node_modules/yaml/'), name).toBe(name === 'policies');
      expect(code(name)).not.toContain('zod/v4/locales/de.');
      expect(code(name).includes('node_modules/hono/'), name).toBe(name === 'pages');
    }
  });
});
