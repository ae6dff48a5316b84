import { genesis, hashOfEntry } from './audit-chain.ts';
import type { AuditEntry, EntryEvent, UnsealedEntry, VoteDetails } from './audit-entry.ts';
import { canonicalJson, digestOf } from './canonical-json.ts';
import type { StoredEntry, StoredRequest } from './ports.ts';
import type { Vote } from './request.ts';
import { accountOf, type RequestAccount } from './request-account.ts';
import { drawFault } from './sampling.ts';

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
  told: RequestAccount;
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
  try {
    const entry: UnsealedEntry = JSON.parse(stored.canonical);
    if (entry.runId !== runId) return broken(`it belongs to the run ${entry.runId}`);
    if (entry.sequence !== expected) return broken(`it was sealed as entry ${entry.sequence}`);
    if (entry.previousHash !== reading.hash) return broken('it does not follow the entry before it');
    if (entry.requestId === undefined && entry.type === 'policy_published')
      return { ...reading, sequence: expected, hash: stored.hash };
    if (entry.requestId === undefined) return broken('it is about no request');
    const drawn = entry.type === 'request_created' ? drawFault(entry) : undefined;
    if (drawn !== undefined) return broken(drawn);
    const known = reading.requests.get(entry.requestId);
    reading.requests.set(entry.requestId, follow(known, { ...entry, ...stored }));
  } catch {
    return broken('its text is not that of an entry');
  }
  return { ...reading, sequence: expected, hash: stored.hash };
}

function follow(known: RequestReading | undefined, entry: AuditEntry): RequestReading {
  const named = new Map(known?.named);
  for (const digest of digestsIn(entry)) if (!named.has(digest)) named.set(digest, entry.sequence);
  const told = accountAfter(known?.told, entry);
  if (!told) throw new TypeError(`entry ${entry.sequence} tells of a request that was not created before it`);
  return { last: { sequence: entry.sequence, hash: entry.hash }, told: withReserved(told), named };
}

/** What has ended in anything but an approval holds nothing of a window. */
const withReserved = (told: RequestAccount): RequestAccount =>
  told.status === 'PENDING' || told.status === 'APPROVED' ? told : { ...told, reserved: undefined };

function accountAfter(known: RequestAccount | undefined, entry: AuditEntry): RequestAccount | undefined {
  if (entry.type === 'request_created') {
    const { status, actionDigest, requestedBy, onBehalfOf, approvals, deadline, sample, reserved } = entry.details;
    const nothingYet = { votes: [], editors: [], level: 0, decidedBy: [] };
    return {
      ...nothingYet,
      status,
      effectiveDigest: actionDigest,
      requestedBy,
      onBehalfOf,
      approvals,
      deadline,
      sample,
      reserved,
    };
  }
  if (!known) return undefined;
  const by = entry.actor.id;
  switch (entry.type) {
    case 'vote_recorded':
      return withVote(known, entry);
    case 'arguments_edited':
      return { ...withVote(known, entry), editors: [...new Set([...known.editors, by])] };
    case 'request_approved': {
      const { decidedBy, claimBy } = entry.details;
      return { ...withVote(known, entry), status: 'APPROVED', decidedBy, claimBy };
    }
    case 'request_rejected':
      return { ...withVote(known, entry), status: 'REJECTED', decidedBy: entry.details.decidedBy };
    case 'request_responded':
      return { ...withVote(known, entry), status: 'RESPONDED', decidedBy: entry.details.decidedBy };
    case 'request_escalated': {
      const { level, approvals, deadline } = entry.details;
      return { ...known, level, approvals, deadline };
    }
    case 'request_proceeded':
      return { ...known, status: 'APPROVED', claimBy: entry.details.claimBy };
    case 'request_timed_out':
      return { ...known, status: 'TIMED_OUT' };
    case 'request_reevaluated':
      return { ...known, status: entry.details.status, approvals: entry.details.approvals };
    case 'request_cancelled':
      return { ...known, status: 'CANCELLED' };
    case 'approval_revoked':
      return { ...known, status: 'REVOKED', decidedBy: [by], claimBy: undefined };
    case 'approval_expired':
      return { ...known, status: 'REVOKED', decidedBy: [], claimBy: undefined };
    case 'approval_claimed':
      return { ...known, claim: entry.details.claimId };
    case 'outcome_reported':
      return { ...known, outcome: entry.details.outcome };
    case 'late_attempt':
    case 'precedent_revoked':
    case 'policy_published':
      return known;
  }
}

function withVote(
  known: RequestAccount,
  { actor, at, details }: AuditEntry & { details: VoteDetails },
): RequestAccount {
  const { word, roles, argsDigest, editedDigest, textDigest, approvals = known.approvals } = details;
  const { reserved = known.reserved } = details;
  const vote: Vote = { approver: actor.id, word, roles, at };
  const digests = { ...(argsDigest && { argsDigest }), ...(textDigest && { textDigest }) };
  const edit = editedDigest && { editedDigest };
  return {
    ...known,
    votes: [...known.votes, { ...vote, ...digests, ...edit }],
    effectiveDigest: editedDigest ?? known.effectiveDigest,
    approvals,
    reserved,
  };
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
    case 'precedent_revoked':
      return [details.textDigest];
    case 'approval_revoked':
      return details.textDigest === undefined ? [] : [details.textDigest];
    case 'outcome_reported':
      return details.resultDigest === undefined ? [] : [details.resultDigest];
    case 'request_escalated':
    case 'request_timed_out':
    case 'request_proceeded':
    case 'request_cancelled':
    case 'request_reevaluated':
    case 'policy_published':
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
  const known = reading.requests.get(requestId);
  if (!known) return { brokenAt: lastEntry.sequence, reason: `no entry is about request ${requestId}, which exists` };
  if (known.last.sequence > lastEntry.sequence) return 'stale';
  if (known.last.sequence < lastEntry.sequence || known.last.hash !== lastEntry.hash)
    return { brokenAt: lastEntry.sequence, reason: `it is not the entry that request ${requestId} names as its last` };
  return contentFault(known, request) ?? stateFault(known, request);
}

function contentFault({ named }: RequestReading, { state, contents }: StoredRequest): Fault | undefined {
  for (const [digest, brokenAt] of named) {
    const canonical = contents.get(digest);
    if (canonical === undefined)
      return { brokenAt, reason: `the content ${digest} of request ${state.requestId} is missing` };
    if (digestOf(canonical) !== digest)
      return { brokenAt, reason: `the content of request ${state.requestId} does not match its digest ${digest}` };
  }
  return undefined;
}

function stateFault({ told, last }: RequestReading, { state }: StoredRequest): Fault | undefined {
  const said = accountOf(state);
  const text = (value: unknown) => (value === undefined ? 'none' : canonicalJson(value));
  for (const what of Object.keys({ ...told, ...said }) as (keyof RequestAccount)[]) {
    if (text(said[what]) === text(told[what])) continue;
    return {
      brokenAt: last.sequence,
      reason: `request ${state.requestId} says ${what} ${text(said[what])}; its entries say ${text(told[what])}`,
    };
  }
  return undefined;
}
