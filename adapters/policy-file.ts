import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPolicyDocument, missionPolicy } from '../core/policy-document.ts';
import type { Policies } from '../core/ports.ts';
import { policyFile } from './environment.ts';

/**
 * The one mission whose document was bundled beside the handler. Read and checked at cold start: a function with an
 * unreadable policy answers nothing, so it allows nothing.
 */
export function bundledPolicies(folder = process.env.LAMBDA_TASK_ROOT ?? '.'): Policies {
  const policy = missionPolicy(checkPolicyDocument(JSON.parse(readFileSync(join(folder, policyFile), 'utf8'))));
  return { find: async (missionId) => (missionId === policy.missionId ? policy : undefined) };
}
