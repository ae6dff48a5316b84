import { setTimeout as pause } from 'node:timers/promises';

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
export type JsonObject = { [member: string]: Json };

/** What an agent asks: DESIGN §5, `POST /v1/requests`. */
export interface Question {
  runId: string;
  actionName: string;
  actionArgs: JsonObject;
  contextSummary?: string;
}

/** As much of the answered request as this example reads. */
export interface ApprovalRequest {
  requestId: string;
  runId: string;
  actionName: string;
  actionArgs: JsonObject;
  status: 'PENDING' | 'APPROVED' | 'REJECTED' | 'RESPONDED' | 'TIMED_OUT' | 'CANCELLED' | 'REVOKED';
  verdict: 'allow' | 'pause' | 'stop';
  policy: { name: string; reason: string };
  approvals: { role: string; count: number }[];
  level: number;
  deadline: string;
  votes: { approver: string; word: string; note?: string }[];
  /** What an approval allows: the arguments as asked or, after an edit, as edited. */
  effectiveArgs: JsonObject;
  effectiveDigest: string;
  decision?: {
    source: string;
    decidedBy: string[];
    decidedAt: string;
    note?: string;
    response?: Json;
    editedArgs?: Json;
  };
  cancelledBy?: string;
}

export interface AuditEntry {
  sequence: number;
  at: string;
  type: string;
  actor: { kind: string; id: string };
  hash: string;
}

export interface Verification {
  intact: boolean;
  entries: number;
  brokenAt?: number;
  reason?: string;
}

/** The service understood and said no: `code` is the problem's word, `message` its sentence. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const tries = 6;
const longestCallMilliseconds = 40_000;

/**
 * Countersign over HTTP, for one identity. Every call may be repeated without a second effect (a creation by its key, a claim
 * and an outcome by the claimId), so lost answers, 429 and 5xx are simply tried again, for about ten seconds.
 */
export function connect(apiUrl: string, token: string, signal?: AbortSignal) {
  async function call<Answer>(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const given = {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    };
    for (let attempt = 1; ; attempt++) {
      const failure = await once<Answer>(`${apiUrl}${path}`, given, signal);
      if ('answer' in failure) return failure.answer;
      if (attempt === tries) throw new Error(`${method} ${path} failed ${tries} times`, { cause: failure.error });
      await pause(2 ** attempt * 100 * (1 + Math.random()), undefined, { signal });
    }
  }
  const at = (requestId: string) => `/v1/requests/${encodeURIComponent(requestId)}`;
  const auditOf = (runId: string) => `/v1/runs/${encodeURIComponent(runId)}/audit`;

  return {
    /** Asks; the same key and question again find the same request. */
    create: (question: Question, key: string) =>
      call<ApprovalRequest>('POST', '/v1/requests', question, { 'idempotency-key': key }),

    read: (requestId: string) => call<ApprovalRequest>('GET', at(requestId)),

    /** Comes back when the request is decided, however long that takes; `stillPending` hears of it as it stands meanwhile. */
    async wait(
      requestId: string,
      stillPending: (request: ApprovalRequest) => void = () => {},
    ): Promise<ApprovalRequest> {
      for (;;) {
        const request = await call<ApprovalRequest>('GET', `${at(requestId)}?wait=20`);
        if (request.status !== 'PENDING') return request;
        stillPending(request);
        await pause(100, undefined, { signal });
      }
    },

    /** A person's word. `argsDigest` is the `effectiveDigest` of what the person read. */
    decide: (requestId: string, decision: { decision: 'approve' | 'reject'; argsDigest: string; note?: string }) =>
      call<ApprovalRequest>('POST', `${at(requestId)}/decision`, decision),

    /** The single use of an approval. Asked again with the same `claimId` it gives the same answer. */
    claim: (requestId: string, claim: { claimId: string; actionName: string; actionArgs: JsonObject }) =>
      call<{ claimId: string; effectiveArgs: JsonObject }>('POST', `${at(requestId)}/claim`, claim),

    outcome: (requestId: string, outcome: { claimId: string; outcome: 'succeeded' | 'failed'; result: Json }) =>
      call<ApprovalRequest>('POST', `${at(requestId)}/outcome`, outcome),

    async audit(runId: string): Promise<AuditEntry[]> {
      const entries: AuditEntry[] = [];
      let cursor: string | undefined;
      do {
        const query: string = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
        const page = await call<{ items: AuditEntry[]; cursor?: string }>('GET', `${auditOf(runId)}${query}`);
        entries.push(...page.items);
        cursor = page.cursor;
      } while (cursor !== undefined);
      return entries;
    },

    verification: (runId: string) => call<Verification>('GET', `${auditOf(runId)}/verification`),
  };
}

export type Countersign = ReturnType<typeof connect>;

type Attempt<Answer> = { answer: Answer } | { error: unknown };

/** Throws what another try would not change: a refusal, or that the caller gave up. */
async function once<Answer>(url: string, given: RequestInit, signal?: AbortSignal): Promise<Attempt<Answer>> {
  const limit = AbortSignal.timeout(longestCallMilliseconds);
  try {
    const response = await fetch(url, { ...given, signal: signal ? AbortSignal.any([signal, limit]) : limit });
    if (response.ok) return { answer: (await response.json()) as Answer };
    const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string };
    const said = problem.detail ?? `${url} answered ${response.status}`;
    if (response.status < 500 && response.status !== 429) throw new Refusal(problem.code ?? `${response.status}`, said);
    return { error: new Error(said) };
  } catch (error) {
    if (error instanceof Refusal || signal?.aborted) throw error;
    return { error };
  }
}
