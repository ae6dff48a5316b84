import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { synthesise } from '../../lib/app.ts';
import { awsUses } from '../../lib/aws-uses.ts';
import { functions } from '../../lib/functions.ts';
import { audience, scopePrefix, webClientId } from '../../local/identities.ts';
import { type PermissionReport, printReport, reportPermissions } from '../../local/permission-report.ts';
import { evaluate, grantsOf, permissionsOf } from '../../local/permissions.ts';
import { type RecordedCall, readRecordings } from '../../local/recorded-calls.ts';
import { functionName, type PlayedTemplate, readTemplate } from '../../local/template.ts';
import { recordedCalls } from '../service/record-calls.ts';

/**
 * CASE 61, over every call that the functions made in all tests with a played service (the vitest project `service`), which
 * wrote them down. `npx vitest run --project service` makes them; without, there is nothing to judge and this fails.
 */
let folder: string;
let template: PlayedTemplate;
let calls: RecordedCall[];
let report: PermissionReport;

beforeAll(async () => {
  if (!existsSync(recordedCalls) || readdirSync(recordedCalls).length === 0)
    throw new Error(`nothing is recorded in ${recordedCalls}; run the tests of the project "service" first`);
  folder = await mkdtemp(join(tmpdir(), 'countersign-permissions-'));
  const issuer = 'http://localhost';
  const outdir = join(folder, 'cdk.out');
  synthesise({ identity: { issuer, audience: [audience], webClientId }, scopePrefix }, outdir);
  template = readTemplate(outdir, { apiEndpoint: issuer, issuer });
  calls = readRecordings(recordedCalls);
  report = reportPermissions(template, calls, awsUses);
  console.log(printReport(report));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const lambdas = () => template.ofType('AWS::Lambda::Function');
const allowedOf = (functionId: string) => calls.filter((call) => call.functionId === functionId && call.allowed);

describe('case 61: the permissions of the template, over every recorded call', () => {
  test('every function was called and has called', () => {
    const callers = lambdas().filter(({ logicalId }) => allowedOf(logicalId).length > 0);
    expect(callers.map(functionName).sort()).toEqual(Object.keys(functions).sort());
  });

  test('nothing that a function does is refused', () => {
    expect(calls.filter(({ allowed }) => !allowed)).toEqual([]);
    expect(report.strange).toEqual([]);
    for (const { logicalId } of lambdas()) {
      const permit = permissionsOf(template, logicalId);
      expect(allowedOf(logicalId).filter((call) => !permit(call).allowed)).toEqual([]);
    }
  });

  test('whichever grant is taken away, some call is refused, or AWS itself needs it for a written reason', () => {
    expect(
      report.unused.map(({ functionName: name, action, resource }) => `${name}: ${action} on ${resource}`),
    ).toEqual([]);
    const granted = lambdas().flatMap(({ logicalId }) => grantsOf(template, logicalId));
    expect(report.needed.length + report.ofAws.length).toBe(granted.length);
    expect(report.ofAws.filter(({ reason }) => !reason)).toEqual([]);
    for (const { action } of report.ofAws) expect(action).not.toMatch(/^(dynamodb:.*(Item|Query|Scan)|sns:)/);
  });

  test('a role that lacks one action that its function uses is caught, whichever it is', () => {
    expect(report.needed.length).toBeGreaterThan(20);
    for (const { functionName: name, from, action, resource } of report.needed) {
      const lambda = lambdas().find((one) => functionName(one) === name);
      const left = grantsOf(template, lambda?.logicalId ?? '').filter(
        (grant) => !(grant.from === from && grant.action === action && grant.resource === resource),
      );
      const refused = allowedOf(lambda?.logicalId ?? '').filter((call) => !evaluate(left, call).allowed);
      expect(refused.length, `${name} without ${action} on ${resource}`).toBeGreaterThan(0);
    }
  });

  test('a grant that nothing uses is caught', () => {
    const withoutDeletes = calls.filter(({ action }) => action !== 'dynamodb:DeleteItem');
    const { unused } = reportPermissions(template, withoutDeletes, awsUses);
    expect(new Set(unused.map(({ action }) => action))).toEqual(new Set(['dynamodb:DeleteItem']));
  });

  test('a call that the template does not allow is caught', () => {
    const [reads] = lambdas().filter((one) => functionName(one) === 'reads');
    const [put] = calls.filter(({ action }) => action === 'dynamodb:PutItem');
    if (!reads || !put) throw new Error('given');
    const { strange } = reportPermissions(template, [...calls, { ...put, functionId: reads.logicalId }], awsUses);
    expect(strange).toHaveLength(1);
  });

  test('the report prints both lists', () => {
    const text = printReport(report);
    expect(text).toMatch(/^Needed: refused when it is taken away \(\d\d\)$/m);
    expect(text).toMatch(/^Used by AWS itself \(\d+\)$/m);
    expect(text).toMatch(/^Unused: no recorded call needs it \(0\)$/m);
    for (const reason of Object.values(awsUses)) expect(text).toContain(reason);
  });
});
