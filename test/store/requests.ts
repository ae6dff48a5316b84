import { randomBytes } from 'node:crypto';
import { actionContent, type Content } from '../../core/action.ts';
import { genesis, nextInChain, sealEntry } from '../../core/audit-chain.ts';
import type { AuditEntry, EntryEvent } from '../../core/audit-entry.ts';
import { canonicalJson, digestOf } from '../../core/canonical-json.ts';
import type { Change } from '../../core/change.ts';
import { addSeconds, type Instant } from '../../core/instant.ts';
import type { RequestStore } from '../../core/ports.ts';
import type { PendingState, RequestState } from '../../core/request.ts';

export const newId = (): string => randomBytes(16).toString('base64url');

/** A time long enough for every test. */
export const soon = (): number => Date.now() + 50_000;

export const asked: Instant = '2026-11-30T10:00:00.000Z';

export const contentOf = (value: unknown): Content => {
  const canonical = canonicalJson(value);
  return { digest: digestOf(canonical), canonical };
};

export const action = actionContent({ actionName: 'refund', actionArgs: { amount: 12.5 }, phase: 'before' });

/** A request that waits for one support manager and one senior manager, its alerts not sent yet. */
export function pendingState(facts: Partial<PendingState> = {}): PendingState {
  return {
    requestId: newId(),
    runId: newId(),
    missionId: 'default',
    phase: 'before',
    actionName: 'refund',
    requestedBy: 'support-bot',
    requestedAt: asked,
    argsDigest: action.digest,
    effectiveDigest: action.digest,
    textsDigest: contentOf({ kind: 'request-texts', salt: 's' }).digest,
    bodyDigest: digestOf('body'),
    attempt: 1,
    missionRoles: ['support_agent', 'support_manager', 'senior_manager'],
    policy: {
      name: 'dual_approval',
      version: 'v1',
      reason: '',
      matched: [],
      timeoutSeconds: 3600,
      onTimeout: 'reject',
      escalateTo: [],
      validForSeconds: 3600,
      secretPaths: [],
      approverRole: 'support_manager',
      approvals: [{ role: 'support_manager', count: 2 }],
    },
    approvals: [
      { role: 'support_manager', count: 1 },
      { role: 'senior_manager', count: 1 },
    ],
    asked: ['support_manager', 'senior_manager'],
    level: 0,
    deadline: addSeconds(asked, 3600),
    votes: [],
    editors: [],
    lateAttempts: {},
    owed: {
      'asked-0-support_manager': owedTo('support_manager'),
      'asked-0-senior_manager': owedTo('senior_manager'),
    },
    delivered: {},
    wakeAt: asked,
    version: 1,
    lastEntry: { sequence: 1, hash: '' },
    status: 'PENDING',
    ...facts,
  };
}

export const owedTo = (role: string, nextAt: Instant = asked) => ({
  kind: 'asked' as const,
  role,
  level: 0,
  attempts: 0,
  nextAt,
});

const creation = (state: RequestState): EntryEvent => ({
  type: 'request_created',
  details: {
    actionDigest: state.argsDigest,
    textsDigest: state.textsDigest,
    requestedBy: state.requestedBy,
    status: state.status,
    policy: state.policy.name,
    approvals: state.approvals,
    deadline: state.deadline,
  },
});

/** The change that makes the request, as the next entry after `tail`. */
export function creationOf(state: RequestState, tail?: AuditEntry, contents: Content[] = [action]): Change {
  const { runId, requestId } = state;
  const chain = tail ? nextInChain(tail) : { sequence: 1, previousHash: genesis };
  const entry = sealEntry({
    ...creation(state),
    ...chain,
    runId,
    requestId,
    at: asked,
    actor: { kind: 'agent', id: state.requestedBy },
    run: { requestedBy: state.requestedBy, missionId: state.missionId, pending: 1, attempts: {} },
  });
  return { after: { ...state, lastEntry: { sequence: entry.sequence, hash: entry.hash } }, entry, contents };
}

/** `after` is `before` with these members, one version on; the entry names who did it. */
export function changeOf(
  before: RequestState,
  tail: AuditEntry,
  members: Partial<RequestState> & Record<string, unknown>,
  event: EntryEvent = { type: 'request_cancelled', details: {} },
  actor: string = newId(),
  at: Instant = asked,
): Change {
  const entry = sealEntry({
    ...event,
    ...nextInChain(tail),
    runId: before.runId,
    requestId: before.requestId,
    at,
    actor: { kind: 'person', id: actor },
    run: { pending: 1, attempts: {} },
  });
  const lastEntry = { sequence: entry.sequence, hash: entry.hash };
  const after = { ...before, version: before.version + 1, ...members, lastEntry } as RequestState;
  return { before, after, entry, contents: [] };
}

export const cancelled = (by = 'support-bot', closedAt: Instant = asked) => ({
  status: 'CANCELLED' as const,
  cancelledBy: by,
  closedAt,
  owed: {},
  wakeAt: undefined,
});

/** Stores the request and hands back what a use case would then read. */
export async function given(store: RequestStore, state: RequestState) {
  const tail = await store.readTail(state.runId);
  const result = await store.commit(creationOf(state, tail), soon());
  if (result !== 'committed') throw new Error(`given: ${result}`);
  return read(store, state.requestId, state.runId);
}

export async function read(store: RequestStore, requestId: string, runId: string) {
  const [state, tail] = await Promise.all([store.readState(requestId), store.readTail(runId)]);
  if (!state || !tail) throw new Error(`${requestId} is not stored`);
  return { state, tail };
}
