import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Engine {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  endpoint: string;
  /** Absent where the engine was running already (`DYNAMODB_ENDPOINT`). */
  pid: number | undefined;
  /** Ends what `startEngine` started, and resolves when it has ended. */
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** Keeps the data in this folder. @default - in memory */
  dataDir?: string;
}

/**
 * A DynamoDB to work on: the one at `DYNAMODB_ENDPOINT` where that is set, else a dynoxide of our own on a free port of
 * the loopback interface, which ends with this process. Rejects with what to install where there is neither.
 */
export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const running = process.env.DYNAMODB_ENDPOINT;
  if (running) return joinRunning(running);
  const binary = findDynoxide();
  if (!binary) {
    throw new Error(
      'No DynamoDB engine: run "npm ci" on Linux x64 (brings @dynoxide/linux-x64), or put a "dynoxide" on the path, ' +
        'or start DynamoDB Local ("docker compose up -d") and set DYNAMODB_ENDPOINT=http://localhost:8000.',
    );
  }
  for (let attempt = 1; ; attempt++) {
    const started = await startDynoxide(binary, await freePort(), options.dataDir);
    if (typeof started !== 'string') return started;
    if (attempt === 5 || !started.includes('already in use')) throw new Error(`dynoxide did not start: ${started}`);
  }
}

async function joinRunning(given: string): Promise<Engine> {
  const endpoint = given.replace(/\/+$/, '');
  await fetch(endpoint).catch((cause) => {
    throw new Error(
      `DYNAMODB_ENDPOINT is ${given}, where nothing answers: start it ("docker compose up -d") or unset it.`,
      { cause },
    );
  });
  return { endpoint, pid: undefined, stop: async () => {} };
}

function findDynoxide(): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'dynoxide'));
  return [...bundledDynoxide(), ...onPath].find(isExecutable);
}

function bundledDynoxide(): string[] {
  try {
    return [join(dirname(createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json')), 'dynoxide')];
  } catch {
    return [];
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/** Resolves with what dynoxide said where it ended instead of listening. */
function startDynoxide(binary: string, port: number, dataDir: string | undefined): Promise<Engine | string> {
  const arguments_ = ['--host', '127.0.0.1', '--port', String(port)];
  if (dataDir !== undefined) {
    mkdirSync(dataDir, { recursive: true });
    arguments_.push('--db-path', join(dataDir, 'dynamodb.sqlite'));
  }
  const child = spawn(binary, arguments_, { stdio: ['ignore', 'ignore', 'pipe'] });
  const endWithUs = () => child.kill();
  process.once('exit', endWithUs);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.once('close', () => process.off('exit', endWithUs));
  const stop = async () => {
    child.ref();
    child.kill();
    await ended;
  };
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (!line.includes('listening on')) return void said.push(line);
      letGo(child);
      resolve({ endpoint: `http://127.0.0.1:${port}`, pid: child.pid, stop });
    });
    child.once('error', reject);
    child.once('close', () => resolve(said.join(' ') || `it ended with ${child.exitCode ?? child.signalCode}`));
  });
}

/** The engine alone keeps no process alive. */
function letGo(child: ChildProcess): void {
  child.unref();
  if (child.stderr && 'unref' in child.stderr && typeof child.stderr.unref === 'function') child.stderr.unref();
}
