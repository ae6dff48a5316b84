import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stackName, synthesise } from '../../lib/app.ts';
import type { Bundles } from '../../lib/bundles.ts';
import { eachFunction } from '../../lib/functions.ts';
import type { GivenStackConfig } from '../../lib/stack-config.ts';

export interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is whatever CloudFormation allows
  Properties: any;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

export interface SynthesisedTemplate {
  Resources: Record<string, Resource>;
  Outputs: Record<string, { Value: unknown }>;
}

/** Where a bundle would lie: what is in it does not matter to the template. */
export function emptyBundles(folder: string): Bundles {
  return eachFunction((name) => {
    const bundle = join(folder, name);
    mkdirSync(bundle, { recursive: true });
    writeFileSync(join(bundle, 'index.js'), `// ${name}\n`);
    return bundle;
  });
}

/** The template for a configuration, as a fresh object that a test may spoil. */
export function templateFor(config: GivenStackConfig = {}): SynthesisedTemplate {
  const outdir = mkdtempSync(join(tmpdir(), 'countersign-synth-'));
  try {
    synthesise(config, outdir, emptyBundles);
    return JSON.parse(readFileSync(join(outdir, `${stackName}.template.json`), 'utf8'));
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

export const ofType = (template: SynthesisedTemplate, type: string): [string, Resource][] =>
  Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);

/** The only resource of `type` whose logical id begins with `prefix`. */
export function one(template: SynthesisedTemplate, type: string, prefix = ''): Resource {
  const found = ofType(template, type).filter(([id]) => id.startsWith(prefix));
  const [first] = found;
  if (!first || found.length > 1) throw new Error(`${found.length} resources ${type} ${prefix}*; one was expected`);
  return first[1];
}
