import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { GivenStackConfig } from '../lib/stack-config.ts';
import { audience, rolesClaim, scopePrefix, subscriptions, webClientId } from './identities.ts';

const root = join(import.meta.dirname, '..');
/** All that a template and its bundles are made of. */
const sources = ['lib', 'lambdas', 'core', 'adapters', 'web', 'policies', 'package-lock.json'];

/** What a service may be given that differs from the usual one. */
export type Deployment = Pick<GivenStackConfig, 'policyFile' | 'sweepMinutes'>;

/** The stack as it is played: signed in at the local identity provider, its alerts to the local people. */
const playedConfig = (issuer: string, { policyFile = 'policies/default.yaml', ...others }: Deployment) => ({
  identity: { issuer, audience: [audience], webClientId },
  rolesClaim,
  scopePrefix,
  subscriptions,
  ...others,
  policyFile: resolve(root, policyFile),
});

/**
 * Synthesises the app into `folder`, unless what lies there was made from the same sources for the same issuer.
 * Nobody else may do so at the same time: whoever holds the issuer's port owns its folder.
 */
export async function synthesiseOnce(issuer: string, folder: string, deployment: Deployment = {}): Promise<void> {
  const config = playedConfig(issuer, deployment);
  const fingerprint = fingerprintOf(JSON.stringify(config) + readFileSync(config.policyFile, 'utf8'));
  const mark = join(folder, 'made-from.sha256');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === fingerprint) return;
  rmSync(folder, { recursive: true, force: true });
  const [{ synthesise }, { AssetStaging }] = await Promise.all([import('../lib/app.ts'), import('aws-cdk-lib')]);
  // Within one process CDK believes that a folder it staged once still lies there, unchanged.
  AssetStaging.clearAssetHashCache();
  synthesise(config, folder);
  writeFileSync(mark, fingerprint);
}

function fingerprintOf(config: string): string {
  const hash = createHash('sha256').update(config);
  for (const source of sources)
    for (const file of filesUnder(source)) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function filesUnder(source: string): string[] {
  if (!existsSync(join(root, source))) return [];
  if (source.includes('.')) return [source];
  return readdirSync(join(root, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}
