import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, it } from 'vitest';
import { addStack, newApp, stackName, synthesise } from '../../lib/app.ts';
import type { GivenStackConfig } from '../../lib/stack-config.ts';
import { emptyBundles } from './synthesised.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'countersign-checks-'));
afterAll(() => rmSync(folder, { recursive: true }));

const config: GivenStackConfig = {
  region: 'eu-west-1',
  subscriptions: [{ protocol: 'email', endpoint: 'desk@example.com', roles: ['support_agent'] }],
  alarmEmail: 'ops@example.com',
};
const templateIn = (name: string) => JSON.parse(readFileSync(join(folder, name, `${stackName}.template.json`), 'utf8'));

describe('the app that the CLI runs', () => {
  it('passes cdk-nag and CDK’s own checks, with no account, and makes the very template that is played', () => {
    const { status, stderr } = spawnSync(process.execPath, ['bin/countersign.ts'], {
      cwd: root,
      env: {
        CDK_OUTDIR: join(folder, 'cli'),
        CDK_CONTEXT_JSON: JSON.stringify({ countersign: config, sweepMinutes: '3' }),
      },
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(readFileSync(join(folder, 'cli', `${stackName}.metadata.json`), 'utf8')).toContain(
      'No subscription reaches senior_manager, support_manager',
    );
    synthesise({ ...config, sweepMinutes: 3 }, join(folder, 'played'));
    expect(templateIn('cli')).toEqual(templateIn('played'));
  }, 120_000);

  it.each<[Record<string, unknown>, string]>([
    [
      { policyFile: 'nope.yaml' },
      `policyFile is "nope.yaml", and ${join(root, 'nope.yaml')} cannot be read (ENOENT).\n`,
    ],
    [{ sweepmINUTES: '3' }, 'The context key "sweepmINUTES" is no setting; "sweepMinutes" is.\n'],
    [
      { sweepMinutes: '0' },
      'The stack configuration is wrong:\n✖ Too small: expected number to be >=1\n  → at sweepMinutes\n',
    ],
  ])(
    'says what is wrong with %j, and nothing else',
    (context, message) => {
      const env = { CDK_OUTDIR: join(folder, 'wrong'), CDK_CONTEXT_JSON: JSON.stringify(context) };
      const { status, stderr } = spawnSync(process.execPath, ['bin/countersign.ts'], {
        cwd: root,
        env,
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([1, message]);
    },
    60_000,
  );

  it('would not pass with a topic that takes messages in clear', () => {
    const app = newApp({ outdir: join(folder, 'spoiled'), builtinCloudFormationValidation: false });
    new Topic(addStack(app, config, emptyBundles), 'open');
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).toThrow(/AwsSolutions-SNS3|Validation failed/);
    expect(readFileSync(join(folder, 'spoiled', 'validation-report.json'), 'utf8')).toContain('AwsSolutions-SNS3');
  });
});
