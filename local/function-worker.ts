import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

/** What the runner gives a worker at its start. */
export interface WorkerData {
  /** The bundle: what Node's `require` loads. */
  file: string;
  /** The name of the exported handler. */
  handler: string;
  functionName: string;
  functionArn: string;
  memoryMegabytes: number;
  /** One Float64: milliseconds by which the clock is moved; shared by all workers. */
  clock: SharedArrayBuffer;
}

export interface WorkerTask {
  /** JSON. */
  event: string;
  requestId: string;
  /** Epoch milliseconds of the real clock at which the function's time is over. */
  endsAt: number;
}

/** What the Lambda service would answer: the result's JSON, or the error. */
export type WorkerAnswer = { payload: string } | { failure: FunctionFailure };

export interface FunctionFailure {
  errorType: string;
  errorMessage: string;
  trace: string[];
}

const RealDate = Date;

/** Moves `Date.now()` and `new Date()`, and nothing else: timers and dates that are given stay what they are. */
function moveDate(clock: SharedArrayBuffer): void {
  const offset = new Float64Array(clock);
  const now = () => RealDate.now() + (offset[0] ?? 0);
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
  });
}

type Handler = (event: unknown, context: object) => unknown;

function load(file: string, name: string): Handler {
  const handler = (createRequire(file)(file) as Record<string, unknown>)[name];
  if (typeof handler !== 'function') throw new Error(`${file} exports no function "${name}"`);
  return handler as Handler;
}

function contextOf(data: WorkerData, task: WorkerTask): object {
  return {
    functionName: data.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: data.functionArn,
    memoryLimitInMB: String(data.memoryMegabytes),
    awsRequestId: task.requestId,
    logGroupName: `/aws/lambda/${data.functionName}`,
    logStreamName: 'local',
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => Math.max(0, task.endsAt - RealDate.now()),
  };
}

function failureOf(error: unknown): FunctionFailure {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') };
}

function serve(data: WorkerData): void {
  moveDate(data.clock);
  const handler = load(data.file, data.handler);
  parentPort?.on('message', async (task: WorkerTask) => {
    let answer: WorkerAnswer;
    try {
      answer = { payload: JSON.stringify((await handler(JSON.parse(task.event), contextOf(data, task))) ?? null) };
    } catch (error) {
      answer = { failure: failureOf(error) };
    }
    parentPort?.postMessage(answer);
  });
  parentPort?.postMessage('ready');
}

serve(workerData as WorkerData);
