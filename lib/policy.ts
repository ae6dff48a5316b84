import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { missionPolicy } from '../core/policy-document.ts';
import { parsePolicyDocument } from '../core/policy-yaml.ts';

export interface DeployedPolicy {
  /** The checked document, as the functions read it. */
  json: string;
  /** Every role that it names. */
  roles: readonly string[];
}

const projectRoot = resolve(import.meta.dirname, '..');

/** Reads and checks the policy document, YAML or JSON, so that a wrong one is never deployed. Throws `POLICY_INVALID`. */
export function readPolicy(file: string): DeployedPolicy {
  const document = parsePolicyDocument(readFileSync(resolve(projectRoot, file), 'utf8'));
  return { json: JSON.stringify(document), roles: [...missionPolicy(document).roles].sort() };
}
