import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MissionPolicy } from '../core/policy.ts';
import { checkPolicyDocument, missionPolicy } from '../core/policy-document.ts';
import { policyFile } from './environment.ts';

/**
 * The mission whose document was bundled beside the handler. Read and checked at cold start: a function with an
 * unreadable policy answers nothing, so it allows nothing.
 */
export const bundledMission = (folder = process.env.LAMBDA_TASK_ROOT ?? '.'): MissionPolicy =>
  missionPolicy(checkPolicyDocument(JSON.parse(readFileSync(join(folder, policyFile), 'utf8'))));
