import { randomUUID } from 'node:crypto';
import { type Connection, callsOver } from './calls.ts';
import type {
  ApprovalRequest,
  AuditEntry,
  Decision,
  GivenPolicy,
  Json,
  JsonObject,
  Page,
  PolicyVersion,
  Published,
  Question,
  SimulatedStep,
  Simulation,
  Status,
  Summary,
  Verification,
} from './wire.ts';

const longestWaitSeconds = 20;

interface Listing {
  /** Several only of those that are answered. */
  status?: Status | readonly Status[];
  role?: string;
  runId?: string;
  limit?: number;
  cursor?: string;
}

/**
 * Countersign over HTTP, for one identity. Every call may be repeated without a second effect, so lost answers, 429 and 5xx are
 * tried again; what remains is thrown as a `CountersignProblem` (client/problem.ts) with its code, detail and status.
 */
export function connect(connection: Connection) {
  const call = callsOver(connection);
  const at = (requestId: string) => `/v1/requests/${encodeURIComponent(requestId)}`;
  const ofRun = (runId: string) => `/v1/runs/${encodeURIComponent(runId)}/audit`;
  const ofMission = (missionId: string) => `/v1/policies/${encodeURIComponent(missionId)}`;

  return {
    requests: {
      /** Asks. The same key (or `occurrenceId`) and question again find the same request; without either each call is a new question. */
      create: (question: Question, idempotencyKey?: string) =>
        call<ApprovalRequest>('POST', '/v1/requests', {
          body: question,
          ...(idempotencyKey !== undefined && { idempotencyKey }),
          ...(idempotencyKey === undefined && question.occurrenceId === undefined && { idempotencyKey: randomUUID() }),
        }),

      get: (requestId: string) => call<ApprovalRequest>('GET', at(requestId)),

      /** Comes back when the request is decided, however long that takes; `stillPending` hears of it as it stands meanwhile. */
      async wait(requestId: string, stillPending?: (request: ApprovalRequest) => void): Promise<ApprovalRequest> {
        for (;;) {
          const request = await call<ApprovalRequest>('GET', at(requestId), { query: { wait: longestWaitSeconds } });
          if (request.status !== 'PENDING') return request;
          stillPending?.(request);
        }
      },

      /** One page of summaries. */
      list: (listing: Listing = {}) =>
        call<Page<Summary>>('GET', '/v1/requests', {
          query: { ...listing, status: listing.status && [listing.status].flat().join(',') },
        }),

      decide: (requestId: string, decision: Decision) =>
        call<ApprovalRequest>('POST', `${at(requestId)}/decision`, { body: decision }),

      cancel: (requestId: string) => call<ApprovalRequest>('POST', `${at(requestId)}/cancellation`, { body: {} }),

      revoke: (requestId: string, revocation: { note?: string } = {}) =>
        call<ApprovalRequest>('POST', `${at(requestId)}/revocation`, { body: revocation }),

      /** The single use of an approval. Asked again with the same `claimId` it gives the same answer. */
      claim: (
        requestId: string,
        claim: { actionName: string; actionArgs: JsonObject; claimId?: string; phase?: 'before' | 'after' },
      ) =>
        call<{ claimId: string; effectiveArgs: JsonObject }>('POST', `${at(requestId)}/claim`, {
          body: { claimId: randomUUID(), ...claim },
        }),

      outcome: (
        requestId: string,
        outcome: { claimId: string; outcome: 'succeeded' | 'failed' | 'unknown'; result?: Json },
      ) => call<ApprovalRequest>('POST', `${at(requestId)}/outcome`, { body: outcome }),

      /** Runs the newest version of the policy on a request that waits. */
      reevaluate: (requestId: string) => call<ApprovalRequest>('POST', `${at(requestId)}/reevaluation`, { body: {} }),
    },

    policies: {
      /** The newest version, or the one that is named. */
      get: (missionId: string, version?: string) =>
        call<PolicyVersion>('GET', ofMission(missionId), { query: { version } }),

      /** `expectedVersion` refuses where somebody published in between; `force` binds at once, also runs that have begun. */
      publish: (
        missionId: string,
        policy: GivenPolicy & { force?: boolean; expectedVersion?: string; approvalId?: string },
      ) => call<Published>('PUT', ofMission(missionId), { body: policy }),

      /** What a policy makes of a step, and why; nothing is written. With a document: what that one would. */
      simulate: (missionId: string, step: SimulatedStep) =>
        call<Simulation>('POST', `${ofMission(missionId)}/simulation`, { body: step }),
    },

    runs: {
      /** All entries of the run, in order. */
      async audit(runId: string): Promise<AuditEntry[]> {
        const entries: AuditEntry[] = [];
        let cursor: string | undefined;
        do {
          const page: Page<AuditEntry> = await call('GET', ofRun(runId), { query: { cursor } });
          entries.push(...page.items);
          cursor = page.cursor;
        } while (cursor !== undefined);
        return entries;
      },

      verification: (runId: string) => call<Verification>('GET', `${ofRun(runId)}/verification`),
    },
  };
}

export type Countersign = ReturnType<typeof connect>;
