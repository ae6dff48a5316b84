import { join } from 'node:path';
import { App, type AppProps } from 'aws-cdk-lib';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { bundleFunctions } from './bundles.ts';
import { CountersignStack } from './countersign-stack.ts';
import { readPolicy } from './policy.ts';
import { type GivenStackConfig, readStackConfig } from './stack-config.ts';

/** The id of the one stack: its template is `<outdir>/Countersign.template.json`. */
export const stackName = 'Countersign';

/** An empty app, without the resource that counts CDK versions for AWS. */
export const newApp = (props: AppProps = {}) => new App({ analyticsReporting: false, ...props });

/**
 * Adds the stack to `app`; the bundles are built into its output folder. Throws `VALIDATION_FAILED` for a wrong
 * configuration and `POLICY_INVALID` for a wrong policy document.
 */
export function addStack(app: App, given: unknown, bundle = bundleFunctions): CountersignStack {
  const config = readStackConfig(given);
  const policy = readPolicy(config.policyFile);
  const bundles = bundle(join(app.outdir, 'bundles'), policy.json);
  return new CountersignStack(app, stackName, { env: { region: config.region }, config, policy, bundles });
}

/**
 * Synthesises inside this process into `outdir`, the same template as the CLI. CDK's own checks of the template take
 * longer than all the rest: they, like cdk-nag, run in `bin/`.
 */
export function synthesise(given: GivenStackConfig, outdir: string, bundle = bundleFunctions): CloudAssembly {
  const app = newApp({ outdir, builtinCloudFormationValidation: false, treeMetadata: false, stackTraces: false });
  addStack(app, given, bundle);
  return app.synth();
}
