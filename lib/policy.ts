import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CountersignError } from '../core/errors.ts';
import { missionPolicy } from '../core/policy-document.ts';
import { parsePolicyDocument } from '../core/policy-yaml.ts';

export interface DeployedPolicy {
  /** The checked document, as the functions read it. */
  json: string;
  /** Every role that it names. */
  roles: readonly string[];
}

const projectRoot = resolve(import.meta.dirname, '..');

/**
 * Reads and checks the policy document, YAML or JSON, so that a wrong one is never deployed. Throws `POLICY_INVALID`, and
 * `VALIDATION_FAILED` where there is no such file.
 */
export function readPolicy(file: string): DeployedPolicy {
  const document = parsePolicyDocument(textOf(file));
  return { json: JSON.stringify(document), roles: [...missionPolicy(document).roles].sort() };
}

function textOf(file: string): string {
  const path = resolve(projectRoot, file);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CountersignError('VALIDATION_FAILED', `policyFile is "${file}", and ${path} cannot be read (${code}).`);
  }
}
