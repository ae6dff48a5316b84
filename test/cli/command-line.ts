import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export interface Ended {
  code: number | null;
  out: string;
  errors: string;
}

/** The command as a person would start it: a process of its own. */
export function countersign(
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [join(root, 'cli', 'countersign.ts'), ...args], {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, errors })));
}

/** A folder with these files, for one test. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'countersign-cli-'));

  file(name: string, content: string): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
