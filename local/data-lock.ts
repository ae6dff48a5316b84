import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Keeps a folder of data for one service: two engines on it would each believe that it is theirs. The lock is the operating
 * system's, so it goes with the process however that ends. Throws where another service holds it.
 */
export function lockData(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const lock = new DatabaseSync(join(folder, 'lock.sqlite'));
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    throw new Error(`the data in ${folder} is in use by another service: end that one, or choose another folder`, {
      cause,
    });
  }
  return () => lock.close();
}
