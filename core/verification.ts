import { genesis, hashOfEntry } from './audit-chain.ts';
import type { AuditEntry, EntryEvent, UnsealedEntry } from './audit-entry.ts';
import { digestOf } from './canonical-json.ts';
import type { StoredEntry, StoredRequest } from './ports.ts';
import type { RequestState, Status } from './request.ts';

/** The first bad place: a sequence number, and why. */
export interface Fault {
  brokenAt: number;
  reason: string;
}

/** What the entries read so far say. `requests` holds, per request, what its entries make of it. */
export interface ChainReading {
  sequence: number;
  hash: string;
  requests: Map<string, RequestReading>;
  fault?: Fault;
}

interface RequestReading {
  last: { sequence: number; hash: string };
  status: Status;
  effectiveDigest: string;
  claimId?: string;
  /** Every content that an entry names, with the entry that named it first. */
  named: Map<string, number>;
}

export const emptyReading = (): ChainReading => ({ sequence: 0, hash: genesis, requests: new Map() });

/** Reads the next stored entry on to the chain; stops at the first fault. The entry's own text is trusted only once its hash holds. */
export function readOn(reading: ChainReading, runId: string, stored: StoredEntry): ChainReading {
  if (reading.fault) return reading;
  const expected = reading.sequence + 1;
  const broken = (reason: string): ChainReading => ({ ...reading, fault: { brokenAt: expected, reason } });
  if (stored.sequence !== expected) return broken(`entry ${expected} is missing; the next one is ${stored.sequence}`);
  if (hashOfEntry(stored.canonical) !== stored.hash) return broken('its content does not match its hash');
  const entry: UnsealedEntry = JSON.parse(stored.canonical);
  if (entry.runId !== runId) return broken(`it belongs to the run ${entry.runId}`);
  if (entry.sequence !== expected) return broken(`it was sealed as entry ${entry.sequence}`);
  if (entry.previousHash !== reading.hash) return broken('it does not follow the entry before it');
  if (entry.requestId !== undefined)
    reading.requests.set(entry.requestId, follow(reading.requests.get(entry.requestId), { ...entry, ...stored }));
  return { ...reading, sequence: expected, hash: stored.hash };
}

function follow(known: RequestReading | undefined, entry: AuditEntry): RequestReading {
  const named = known?.named ?? new Map<string, number>();
  for (const digest of digestsIn(entry)) if (!named.has(digest)) named.set(digest, entry.sequence);
  const reading: RequestReading = {
    status: 'PENDING',
    effectiveDigest: '',
    ...known,
    last: { sequence: entry.sequence, hash: entry.hash },
    named,
  };
  switch (entry.type) {
    case 'request_created':
      return { ...reading, status: entry.details.status, effectiveDigest: entry.details.actionDigest };
    case 'arguments_edited':
      return { ...reading, effectiveDigest: entry.details.editedDigest ?? reading.effectiveDigest };
    case 'request_approved':
      return { ...reading, status: 'APPROVED', effectiveDigest: entry.details.editedDigest ?? reading.effectiveDigest };
    case 'request_proceeded':
      return { ...reading, status: 'APPROVED' };
    case 'request_rejected':
      return { ...reading, status: 'REJECTED' };
    case 'request_responded':
      return { ...reading, status: 'RESPONDED' };
    case 'request_timed_out':
      return { ...reading, status: 'TIMED_OUT' };
    case 'request_cancelled':
      return { ...reading, status: 'CANCELLED' };
    case 'approval_revoked':
    case 'approval_expired':
      return { ...reading, status: 'REVOKED' };
    case 'approval_claimed':
      return { ...reading, claimId: entry.details.claimId };
    case 'vote_recorded':
    case 'request_escalated':
    case 'outcome_reported':
    case 'late_attempt':
      return reading;
  }
}

/** The contents that an entry names: an approver's `argsDigest` is left out, since a person may have seen what never was. */
export function digestsIn({ type, details }: EntryEvent): string[] {
  switch (type) {
    case 'request_created':
      return [details.actionDigest, details.textsDigest];
    case 'vote_recorded':
    case 'arguments_edited':
    case 'request_approved':
    case 'request_rejected':
    case 'request_responded':
      return [details.editedDigest, details.textDigest].filter((digest) => digest !== undefined);
    case 'approval_revoked':
      return details.textDigest === undefined ? [] : [details.textDigest];
    case 'outcome_reported':
      return details.resultDigest === undefined ? [] : [details.resultDigest];
    case 'request_escalated':
    case 'request_timed_out':
    case 'request_proceeded':
    case 'request_cancelled':
    case 'approval_expired':
    case 'approval_claimed':
    case 'late_attempt':
      return [];
  }
}

/**
 * Holds a request as stored against what the chain says of it. `request` was read before the entries, so the chain may have
 * gone on since; the caller reads it again where this says so (`stale`).
 */
export function compareWithChain(reading: ChainReading, request: StoredRequest): Fault | 'stale' | undefined {
  const { requestId, lastEntry } = request.state;
  if (lastEntry.sequence > reading.sequence)
    return {
      brokenAt: reading.sequence + 1,
      reason: `request ${requestId} says that entry ${lastEntry.sequence} exists; the chain ends at ${reading.sequence}: its tail was cut`,
    };
  const told = reading.requests.get(requestId);
  if (!told) return { brokenAt: lastEntry.sequence, reason: `no entry is about request ${requestId}, which exists` };
  if (told.last.sequence > lastEntry.sequence) return 'stale';
  if (told.last.sequence < lastEntry.sequence || told.last.hash !== lastEntry.hash)
    return { brokenAt: lastEntry.sequence, reason: `it is not the entry that request ${requestId} names as its last` };
  return contentFault(told, request) ?? stateFault(told, request.state);
}

function contentFault(told: RequestReading, { state, contents }: StoredRequest): Fault | undefined {
  for (const [digest, brokenAt] of told.named) {
    const canonical = contents.get(digest);
    if (canonical === undefined)
      return { brokenAt, reason: `the content ${digest} of request ${state.requestId} is missing` };
    if (digestOf(canonical) !== digest)
      return { brokenAt, reason: `the content of request ${state.requestId} does not match its digest ${digest}` };
  }
  return undefined;
}

function stateFault(told: RequestReading, state: RequestState): Fault | undefined {
  const claimId = state.status === 'APPROVED' ? state.claim?.claimId : undefined;
  const differs = (what: string, says: string | undefined, entries: string | undefined): Fault => ({
    brokenAt: told.last.sequence,
    reason: `request ${state.requestId} says ${what} ${says ?? 'none'}; its entries say ${entries ?? 'none'}`,
  });
  if (state.status !== told.status) return differs('status', state.status, told.status);
  if (state.effectiveDigest !== told.effectiveDigest)
    return differs('effectiveDigest', state.effectiveDigest, told.effectiveDigest);
  if (claimId !== told.claimId) return differs('claim', claimId, told.claimId);
  return undefined;
}
