import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Lets one process at a time work on a run: two would both resume it. The lock is the operating system's, so it goes with the
 * process however that ends. Throws where another process holds it.
 */
export function lockRun(folder: string, runId: string): { unlock: () => void } {
  const locks = join(folder, 'locks');
  mkdirSync(locks, { recursive: true });
  const lock = new DatabaseSync(join(locks, `${encodeURIComponent(runId)}.sqlite`));
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw new Error(`run ${runId} is being worked on by another process`, { cause: error });
  }
  return { unlock: () => lock.close() };
}
