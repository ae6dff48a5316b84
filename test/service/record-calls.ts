import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

/** Where the services of one test run write the AWS calls that their functions made, for `test/permissions`. */
export const recordedCalls = resolve('.local/recorded-calls');

export function setup(): void {
  rmSync(recordedCalls, { recursive: true, force: true });
  mkdirSync(recordedCalls, { recursive: true });
  process.env.COUNTERSIGN_RECORD_CALLS = recordedCalls;
}
