import { setTimeout as pause } from 'node:timers/promises';
import { CountersignProblem } from './problem.ts';

export interface Connection {
  apiUrl: string;
  token: string;
  /** @default the global one */
  fetch?: typeof fetch;
  /** How often a call is tried, and the first pause between two tries, which doubles. @default 6 tries, 200 ms */
  retry?: { tries: number; milliseconds: number };
  signal?: AbortSignal;
}

/** One call, tried again where that can help. Every one may be repeated without a second effect. */
export type Call = <Answer>(method: 'GET' | 'POST' | 'PUT', path: string, more?: More) => Promise<Answer>;

interface More {
  body?: object;
  /** Named in the address; what is `undefined` is left out. */
  query?: Readonly<Record<string, string | number | undefined>>;
  idempotencyKey?: string;
}

const longestCallMilliseconds = 40_000;
const longestPauseMilliseconds = 20_000;

/** 429, 5xx and lost answers are tried again, with jitter, and not before `Retry-After`. Throws {@link CountersignProblem}. */
export function callsOver(connection: Connection): Call {
  const { apiUrl, token, signal, retry = { tries: 6, milliseconds: 200 } } = connection;
  const send = connection.fetch ?? fetch;
  return async <Answer>(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    { body, query = {}, idempotencyKey }: More = {},
  ) => {
    const given = {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
    };
    for (let attempt = 1; ; attempt++) {
      const tried = await once<Answer>(send, `${apiUrl.replace(/\/$/, '')}${path}${queryOf(query)}`, given, signal);
      if ('answer' in tried) return tried.answer;
      if (attempt >= retry.tries || !tried.again) throw tried.problem;
      const wait = retry.milliseconds * 2 ** (attempt - 1) * (0.5 + Math.random());
      await pause(Math.min(Math.max(wait, tried.notBefore), longestPauseMilliseconds), undefined, { signal });
    }
  };
}

function queryOf(query: NonNullable<More['query']>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

type Tried<Answer> = { answer: Answer } | { problem: CountersignProblem; again: boolean; notBefore: number };

/** Throws only what the caller's own signal says. */
async function once<Answer>(
  send: typeof fetch,
  url: string,
  given: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Tried<Answer>> {
  const limit = AbortSignal.timeout(longestCallMilliseconds);
  let response: Response;
  let text: string;
  try {
    response = await send(url, { ...given, signal: signal ? AbortSignal.any([signal, limit]) : limit });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    const said = error instanceof Error ? error.message : String(error);
    return {
      problem: new CountersignProblem('UNREACHABLE', 0, `${url}: ${said}`, {}, error),
      again: true,
      notBefore: 0,
    };
  }
  const { status } = response;
  const body = parsed(text);
  if (response.ok && body !== undefined) return { answer: body as Answer };
  const { code, detail, ...members } = isObject(body) ? body : {};
  const said = typeof detail === 'string' ? detail : `${url} answered ${status}`;
  const problem = new CountersignProblem(typeof code === 'string' ? code : `HTTP_${status}`, status, said, members);
  const seconds = Number(response.headers.get('retry-after') ?? 0);
  return {
    problem,
    again: response.ok || status === 429 || status >= 500,
    notBefore: Number.isFinite(seconds) ? seconds * 1000 : 0,
  };
}

/** `undefined` for what is no JSON: half an answer, or a page of something in between. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
