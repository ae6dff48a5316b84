import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { tables } from '../../adapters/dynamodb/tables.ts';
import { addStack, newApp } from '../../lib/app.ts';
import { awsUses } from '../../lib/aws-uses.ts';
import type { Bundles } from '../../lib/bundles.ts';
import { functions } from '../../lib/functions.ts';
import type { GivenStackConfig } from '../../lib/stack-config.ts';
import { engineCredentials } from '../../local/aws-endpoint.ts';
import { startEngine } from '../../local/dynamodb-engine.ts';
import { reportPermissions } from '../../local/permission-report.ts';
import { grantsOf, permissionsOf } from '../../local/permissions.ts';
import { createPlayedTables } from '../../local/played-tables.ts';
import type { Surroundings } from '../../local/resource-types.ts';
import { functionName, type PlayedTemplate, readTemplate } from '../../local/template.ts';

const identity = { issuer: 'http://localhost:9000', audience: ['web'], webClientId: 'web' };

/** The stack as it is deployed, with empty bundles: what is in them is no matter here. */
function synthesised(config: GivenStackConfig, surroundings: Surroundings): PlayedTemplate {
  const outdir = mkdtempSync(join(tmpdir(), 'real-'));
  const app = newApp({ outdir });
  addStack(app, config, (folder) => {
    const bundles = Object.keys(functions).map((name) => [name, join(folder, name)] as const);
    for (const [name, bundle] of bundles) {
      mkdirSync(bundle, { recursive: true });
      writeFileSync(join(bundle, 'index.js'), `// ${name}`);
    }
    return Object.fromEntries(bundles) as Bundles;
  });
  app.synth();
  return readTemplate(outdir, surroundings);
}

let template: PlayedTemplate;
beforeAll(() => {
  template = synthesised({ identity }, { apiEndpoint: 'http://localhost:8787' });
}, 120_000);

const functionNamed = (name: string) => {
  const found = template.ofType('AWS::Lambda::Function').find((resource) => functionName(resource) === name);
  if (!found) throw new Error(`no function ${name}`);
  return found.logicalId;
};

test('the synthesised stack is understood whole', () => {
  expect(template.ofType('AWS::Lambda::Function').map(functionName).sort()).toEqual(Object.keys(functions).sort());
  for (const { logicalId } of template.ofType('AWS::Lambda::Function')) {
    expect(template.assetFolder(template.get(logicalId))).toContain('asset.');
    expect(grantsOf(template, logicalId).length).toBeGreaterThan(0);
  }
  expect(JSON.stringify(template.resources)).not.toMatch(/"(Ref|Fn::[A-Za-z]+)":/);
});

test('with a user pool of its own, too', () => {
  const surroundings = { apiEndpoint: 'http://localhost:8787', issuer: 'http://localhost:9000' };
  const withPool = synthesised({}, surroundings);
  expect(withPool.ofType('AWS::Cognito::UserPool')).toHaveLength(1);
}, 120_000);

test('its tables can be made', async () => {
  const engine = await startEngine();
  const credentials = engineCredentials;
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: template.region, credentials });
  try {
    await createPlayedTables(template, client);
    const { TableNames } = await client.send(new ListTablesCommand({}));
    expect(TableNames).toHaveLength(Object.keys(tables).length);
  } finally {
    client.destroy();
    await engine.stop();
  }
});

test('no function may touch an audit entry but by putting it inside a transaction', () => {
  const audit = template.get(template.outputs.AuditTable ?? '');
  const resource = `arn:aws:dynamodb:${template.region}:${template.accountId}:table/${audit.logicalId}`;
  const context = { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] };
  for (const { logicalId } of template.ofType('AWS::Lambda::Function')) {
    const permit = permissionsOf(template, logicalId);
    for (const action of ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'PartiQLInsert', 'PartiQLUpdate']) {
      expect(permit({ action: `dynamodb:${action}`, resource, context: {} }).allowed, action).toBe(false);
    }
    for (const action of ['UpdateItem', 'DeleteItem']) {
      expect(permit({ action: `dynamodb:${action}`, resource, context }).allowed, action).toBe(false);
    }
  }
  const put = { action: 'dynamodb:PutItem', resource, context };
  expect(permissionsOf(template, functionNamed('decisions'))(put).allowed).toBe(true);
  expect(permissionsOf(template, functionNamed('reads'))(put).allowed).toBe(false);
});

test('without any recorded call, every grant is unused but what AWS itself uses, each with its reason', () => {
  const { needed, ofAws, unused } = reportPermissions(template, [], awsUses);
  expect(needed).toEqual([]);
  expect(unused.every(({ action }) => /^(dynamodb|sns):/.test(action))).toBe(true);
  expect(unused.map(({ action }) => action)).toContain('sns:Publish');
  expect(new Set(ofAws.map(({ reason }) => reason))).toEqual(new Set(Object.values(awsUses)));
});
