import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FunctionLog } from './function-log.ts';
import type { FunctionFailure, WorkerAnswer, WorkerData, WorkerTask } from './function-worker.ts';

/** What of an AWS::Lambda::Function is played. */
export interface FunctionDefinition {
  logicalId: string;
  /** The short name: `requests`, `sweep`. */
  name: string;
  arn: string;
  /** Where the bundle lies. */
  folder: string;
  /** `index.handler`. */
  handler: string;
  timeoutSeconds: number;
  memoryMegabytes: number;
  /** ReservedConcurrentExecutions: one more event is throttled. Absent: events wait for a free worker. */
  reservedConcurrency?: number;
  environment: Readonly<Record<string, string>>;
}

/**
 * - `returned`: `payload` is the JSON of the result.
 * - `failed`: the function threw, crashed or ran out of time.
 * - `throttled`: as many events run as the function's reserved concurrency allows.
 * - `too-large`: the event is over Lambda's 6 MB.
 */
export type Invocation =
  | { status: 'returned'; payload: string }
  | { status: 'failed'; reason: 'error' | 'crash' | 'timeout'; failure: FunctionFailure }
  | { status: 'throttled' }
  | { status: 'too-large' };

export interface PlayedFunction extends FunctionDefinition {
  invoke(event: unknown): Promise<Invocation>;
  close(): Promise<void>;
}

const largestEvent = 6 * 1024 * 1024;
const workersWithoutReservation = 16;

/** Runs a function's bundle in worker threads: one event at a time in each, more of them as events come. */
export function playFunction(
  definition: FunctionDefinition,
  clock: SharedArrayBuffer,
  log: FunctionLog,
): PlayedFunction {
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const waiting: ((worker: Worker | Promise<Worker>) => void)[] = [];
  const limit = definition.reservedConcurrency ?? workersWithoutReservation;
  let closed = false;

  /** Resolves when the bundle is loaded, which takes nothing of an event's time, as in Lambda. */
  function start(): Promise<Worker> {
    const worker = startWorker(definition, clock);
    all.add(worker);
    log.follow(definition.name, worker);
    worker.once('exit', () => {
      all.delete(worker);
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
      const next = closed ? undefined : waiting.shift();
      if (next) next(start());
    });
    // Between two events; during one, `run` listens too.
    worker.on('error', (error) => log.write(definition.name, `crashed: ${error.message}`));
    return new Promise((resolve, reject) => {
      worker.once('message', () => resolve(worker)).once('error', reject);
      worker.once('exit', (code) => reject(new Error(`Runtime exited with code ${code} while it started`)));
    });
  }

  async function worker(): Promise<Worker | undefined> {
    const free = idle.pop();
    if (free) return free;
    if (all.size < limit) return start();
    if (definition.reservedConcurrency !== undefined) return undefined;
    return new Promise((resolve) => waiting.push(resolve));
  }

  function release(released: Worker): void {
    const next = waiting.shift();
    if (next) next(released);
    else idle.push(released);
  }

  return {
    ...definition,
    async invoke(event) {
      const text = JSON.stringify(event);
      if (Buffer.byteLength(text) > largestEvent) return { status: 'too-large' };
      const taken = await worker().catch((error: Error) => error);
      if (!taken) return { status: 'throttled' };
      if (taken instanceof Error) return failed('crash', taken.name, taken.message, taken.stack);
      const invocation = await run(taken, text, definition);
      if (invocation.status === 'failed') {
        log.write(definition.name, `${invocation.failure.errorType}: ${invocation.failure.errorMessage}`);
        for (const line of invocation.failure.trace.slice(1)) log.write(definition.name, line);
      }
      if (invocation.status === 'returned' || (invocation.status === 'failed' && invocation.reason === 'error'))
        release(taken);
      return invocation;
    },
    async close() {
      closed = true;
      await Promise.all([...all].map((one) => one.terminate()));
    },
  };
}

function startWorker(definition: FunctionDefinition, clock: SharedArrayBuffer): Worker {
  const [file, handler] = definition.handler.split('.');
  const data: WorkerData = {
    file: join(definition.folder, `${file}.js`),
    handler: handler ?? 'handler',
    functionName: definition.name,
    functionArn: definition.arn,
    memoryMegabytes: definition.memoryMegabytes,
    clock,
  };
  const worker = new Worker(new URL('./function-worker.ts', import.meta.url), {
    workerData: data,
    env: { ...definition.environment, LAMBDA_TASK_ROOT: definition.folder },
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: definition.memoryMegabytes },
  });
  return worker;
}

/** One event in one worker, which is free: an answer, a crash or the end of the function's time, whichever is first. */
function run(worker: Worker, event: string, definition: FunctionDefinition): Promise<Invocation> {
  const milliseconds = definition.timeoutSeconds * 1000;
  const task: WorkerTask = { event, requestId: randomUUID(), endsAt: Date.now() + milliseconds };
  return new Promise((resolve) => {
    const settle = (invocation: Invocation) => {
      clearTimeout(timer);
      worker.off('message', answered).off('error', crashed).off('exit', exited);
      resolve(invocation);
    };
    const answered = (answer: WorkerAnswer) =>
      settle(
        'payload' in answer
          ? { status: 'returned', payload: answer.payload }
          : { status: 'failed', reason: 'error', failure: answer.failure },
      );
    const crashed = (error: Error) => settle(failed('crash', error.name, error.message, error.stack));
    const exited = (code: number) =>
      settle(
        failed('crash', 'Runtime.ExitError', `RequestId: ${task.requestId} Error: Runtime exited with code ${code}`),
      );
    const timer = setTimeout(() => {
      const seconds = definition.timeoutSeconds.toFixed(2);
      settle(failed('timeout', 'Sandbox.Timedout', `${task.requestId} Task timed out after ${seconds} seconds`));
      void worker.terminate();
    }, milliseconds);
    worker.on('message', answered).on('error', crashed).on('exit', exited);
    worker.postMessage(task);
  });
}

function failed(reason: 'crash' | 'timeout', errorType: string, errorMessage: string, stack = ''): Invocation {
  return { status: 'failed', reason, failure: { errorType, errorMessage, trace: stack.split('\n') } };
}
