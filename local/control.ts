import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { CountersignError, type ErrorCode } from '../core/errors.ts';
import type { AwsEndpoint } from './aws-endpoint.ts';
import type { Invocation } from './functions.ts';
import { fromAnotherSite } from './loopback-only.ts';

export interface Controlled {
  endpoint: Pick<AwsEndpoint, 'meter' | 'faults'>;
  /** Short names. */
  functions: readonly string[];
  invoke(name: string, event: unknown): Promise<Invocation>;
  /** Moves the clock that the functions see, from the real one. */
  moveClock(offsetSeconds: number): void;
  enableStream(enabled: boolean): void;
}

type Action = (body: unknown, name: string) => unknown;

/** Further off, sums of instants leave what a date can be. */
const tenYears = 10 * 365 * 24 * 60 * 60;
const clockRange = `from -${tenYears} to ${tenYears} seconds, ten years`;
const clockBody = z.strictObject({ offsetSeconds: z.number().min(-tenYears, clockRange).max(tenYears, clockRange) });
const streamBody = z.strictObject({ enabled: z.boolean() });

/** What tests and the curious do to the running service, JSON in, JSON out; no page in a browser may. */
export function playControl(controlled: Controlled): RequestListener {
  const { endpoint, functions } = controlled;
  const actions: Readonly<Record<string, Action>> = {
    'POST /invoke': async (body, name) => {
      if (!functions.includes(name))
        throw new CountersignError('NOT_FOUND', `there is no function "${name}"; there are ${functions.join(', ')}`);
      return resultOf(name, await controlled.invoke(name, body ?? {}));
    },
    'GET /meter': () => endpoint.meter.snapshot(),
    'DELETE /meter': () => endpoint.meter.zero(),
    'GET /faults': () => endpoint.faults.rules(),
    'PUT /faults': (body) => endpoint.faults.set(body),
    'DELETE /faults': () => endpoint.faults.clear(),
    'PUT /clock': (body) => controlled.moveClock(checked(clockBody, body).offsetSeconds),
    'PUT /stream': (body) => controlled.enableStream(checked(streamBody, body).enabled),
  };
  const allowed = Object.keys(actions).map((action) => action.replace('/invoke', '/invoke/{function}'));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = fromAnotherSite(request);
    if (refusal) throw new CountersignError('FORBIDDEN', refusal);
    const [, path = '', name = ''] = (request.url ?? '').split('?')[0]?.split('/') ?? [];
    const action = actions[`${request.method} /${path}`];
    if (!action) {
      const given = `${request.method} ${request.url}`;
      throw new CountersignError('NOT_FOUND', `there is no ${given}; there are ${allowed.join(', ')}`);
    }
    send(response, 200, (await action(await bodyOf(request), name)) ?? {});
  }

  return (request, response) => {
    answer(request, response).catch((error) => {
      const known = error instanceof CountersignError;
      send(response, known ? (statuses[error.code] ?? 400) : 500, {
        error: error instanceof Error ? error.message : String(error),
      });
    });
  };
}

const statuses: Partial<Record<ErrorCode, number>> = {
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  UNSUPPORTED_MEDIA_TYPE: 415,
  CONFLICT: 502,
};

/** The function's own result; its error is a 502 that says what went wrong. */
function resultOf(name: string, invocation: Invocation): unknown {
  switch (invocation.status) {
    case 'returned':
      return JSON.parse(invocation.payload);
    case 'failed': {
      const { errorType, errorMessage } = invocation.failure;
      throw new CountersignError('CONFLICT', `${name} failed (${invocation.reason}): ${errorType}: ${errorMessage}`);
    }
    case 'throttled':
    case 'too-large':
      throw new CountersignError('CONFLICT', `${name} was not run: ${invocation.status}`);
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const body = await text(request);
  if (body === '') return undefined;
  const type = request.headers['content-type'] ?? 'none';
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new CountersignError('UNSUPPORTED_MEDIA_TYPE', `the content type is ${type}; it may be application/json`);
  try {
    return JSON.parse(body);
  } catch {
    throw new CountersignError('VALIDATION_FAILED', 'the body is not JSON');
  }
}

function checked<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new CountersignError('VALIDATION_FAILED', z.prettifyError(result.error));
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
