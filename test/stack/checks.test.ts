import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, Validations } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, it } from 'vitest';
import { addStack, newApp, stackName } from '../../lib/app.ts';
import type { GivenStackConfig } from '../../lib/stack-config.ts';
import { emptyBundles, templateFor } from './synthesised.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-checks-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** As `bin/countersign.ts` does it, with cdk-nag and CDK's own checks; both refuse by throwing. */
function synthesiseChecked(
  name: string,
  config: GivenStackConfig,
  spoil: (stack: ReturnType<typeof addStack>) => void = () => {},
) {
  const app: App = newApp({ outdir: join(folder, name) });
  spoil(addStack(app, config, emptyBundles));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
  return JSON.parse(readFileSync(join(folder, name, `${stackName}.template.json`), 'utf8'));
}

describe('cdk-nag and CDK’s own checks', () => {
  it('find nothing; the template that they checked is the one that is played', () => {
    const config: GivenStackConfig = {
      subscriptions: [{ protocol: 'email', endpoint: 'desk@example.com', roles: ['support_agent'] }],
      alarmEmail: 'ops@example.com',
    };
    expect(synthesiseChecked('pool', config)).toEqual(templateFor(config));
  });

  it('would find a topic that takes messages in clear', () => {
    const identity = { issuer: 'https://id.example', audience: ['web'], webClientId: 'web' };
    expect(() => synthesiseChecked('spoiled', { identity }, (stack) => new Topic(stack, 'open'))).toThrow(
      /AwsSolutions-SNS3|Validation failed/,
    );
    expect(readFileSync(join(folder, 'spoiled', 'validation-report.json'), 'utf8')).toContain('AwsSolutions-SNS3');
  });
});
