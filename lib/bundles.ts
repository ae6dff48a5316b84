import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { policyFile } from '../adapters/environment.ts';
import { eachFunction, type FunctionName, functions } from './functions.ts';

/** Where the bundle of each function lies. */
export type Bundles = Readonly<Record<FunctionName, string>>;

/**
 * Bundles all functions in one pass into `<folder>/<name>/index.js`, each with the policy beside it. CommonJS, because it
 * starts fastest on Lambda; not minified, so that a stack trace can be read. The SDK is in the bundle: what was tested runs.
 */
export function bundleFunctions(folder: string, policy: string): Bundles {
  const root = join(import.meta.dirname, '..');
  buildSync({
    absWorkingDir: root,
    entryPoints: Object.keys(functions).map((name) => ({ in: `lambdas/${name}.ts`, out: `${name}/index` })),
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    mainFields: ['module', 'main'],
    treeShaking: true,
    logLevel: 'warning',
  });
  return eachFunction((name) => {
    const bundle = join(folder, name);
    writeFileSync(join(bundle, 'package.json'), '{"type":"commonjs"}\n');
    writeFileSync(join(bundle, policyFile), policy);
    return bundle;
  });
}
