import { join } from 'node:path';
import { App, type AppProps } from 'aws-cdk-lib';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { type Bundles, bundleFunctions } from './bundles.ts';
import { CountersignStack } from './countersign-stack.ts';
import { readPolicy } from './policy.ts';
import { type GivenStackConfig, readStackConfig } from './stack-config.ts';

/** The id of the one stack: its template is `<outdir>/Countersign.template.json`. */
export const stackName = 'Countersign';

/**
 * Adds the stack to `app`; the bundles are built into its output folder. Throws `VALIDATION_FAILED` for a wrong
 * configuration and `POLICY_INVALID` for a wrong policy document.
 */
export function addStack(app: App, given: unknown, bundle: typeof bundleFunctions = bundleFunctions): CountersignStack {
  const config = readStackConfig(given);
  const policy = readPolicy(config.policyFile);
  const bundles: Bundles = bundle(join(app.outdir, 'bundles'), policy.json);
  return new CountersignStack(app, stackName, { env: { region: config.region }, config, policy, bundles });
}

/** The app as the CLI, the tests and the local service all build it. */
export const newApp = (props: AppProps = {}) => new App({ analyticsReporting: false, ...props });

/** Synthesises inside this process into `outdir`. The bundles are found through `<outdir>/Countersign.assets.json`. */
export function synthesise(config: GivenStackConfig, outdir: string): CloudAssembly {
  const app = newApp({ outdir });
  addStack(app, config);
  return app.synth();
}
