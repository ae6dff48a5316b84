import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Worker } from 'node:worker_threads';

/** Where the functions' output goes, each line under the function's name. */
export interface FunctionLog {
  write(functionName: string, line: string): void;
  /** Takes over what a worker writes to its console. */
  follow(functionName: string, worker: Worker): void;
  /** Leaves no file where nothing was written. */
  close(): Promise<void>;
}

export function openFunctionLog(file: string, alsoOnScreen: boolean): FunctionLog {
  mkdirSync(dirname(file), { recursive: true });
  const stream = createWriteStream(file, { flags: 'w' });
  const write = (functionName: string, line: string) => {
    stream.write(`${new Date().toISOString()} ${functionName} ${line}\n`);
    if (alsoOnScreen) process.stderr.write(`${functionName} ${line}\n`);
  };
  return {
    write,
    follow(functionName, worker) {
      for (const output of [worker.stdout, worker.stderr])
        createInterface({ input: output }).on('line', (line) => write(functionName, line));
    },
    close: async () => {
      await new Promise<void>((resolve) => stream.end(() => resolve()));
      if (stream.bytesWritten === 0) rmSync(file, { force: true });
    },
  };
}
