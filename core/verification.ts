import type { Action } from './action.ts';
import { genesis, hashOfEntry } from './audit-chain.ts';
import type { AuditEntry, EntryEvent, UnsealedEntry, VoteDetails } from './audit-entry.ts';
import { canonicalJson, type Digest, digestOf, fromCanonical } from './canonical-json.ts';
import { addSeconds } from './instant.ts';
import type { StoredEntry, StoredRequest } from './ports.ts';
import type { Status, Vote } from './request.ts';
import { accountOf, type DecisionAccount, type RequestAccount } from './request-account.ts';
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
  if (stored.sequence < expected) return broken(`before it stands an entry ${stored.sequence}, which was added`);
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
  if (entry.type === 'request_created') return accountAtFirst(entry, entry.details);
  if (!known) return undefined;
  const { at, actor } = entry;
  const closed = (status: Status, word: DecisionAccount['word'], source: DecisionAccount['source'], text?: Digest) =>
    ({ status, decision: { word, source, decidedAt: at, textDigest: text }, closedAt: at }) as const;
  switch (entry.type) {
    case 'vote_recorded':
      return withVote(known, entry);
    case 'arguments_edited': {
      const voted = withVote(known, entry);
      const asked = [...new Set([...voted.approvals.map(({ role }) => role), ...known.asked])];
      return { ...voted, asked, editors: [...new Set([...known.editors, actor.id])] };
    }
    case 'request_approved': {
      const { decidedBy, claimBy, word, textDigest } = entry.details;
      const approved = closed('APPROVED', word === 'edit' ? 'edit' : 'approve', 'human', textDigest);
      return { ...withVote(known, entry), decidedBy, claimBy, ...approved };
    }
    case 'request_rejected': {
      const { decidedBy, textDigest } = entry.details;
      return { ...withVote(known, entry), decidedBy, ...closed('REJECTED', 'reject', 'human', textDigest) };
    }
    case 'request_responded': {
      const { decidedBy, textDigest } = entry.details;
      return { ...withVote(known, entry), decidedBy, ...closed('RESPONDED', 'respond', 'human', textDigest) };
    }
    case 'request_escalated': {
      const { level, approvals, asked, deadline } = entry.details;
      return { ...known, level, approvals, asked, deadline };
    }
    case 'request_proceeded':
      return { ...known, claimBy: entry.details.claimBy, ...closed('APPROVED', 'approve', 'timeout') };
    case 'request_timed_out':
      return { ...known, ...closed('TIMED_OUT', 'timeout', 'timeout') };
    case 'request_reevaluated': {
      const { status, approvals, asked, policyDigest } = entry.details;
      const after = { ...known, status, approvals, asked, policyDigest };
      return status === 'REJECTED' ? { ...after, ...closed('REJECTED', 'reject', 'policy') } : after;
    }
    case 'request_cancelled':
      return { ...known, status: 'CANCELLED', cancelledBy: actor.id, closedAt: at };
    case 'approval_revoked': {
      const { textDigest } = entry.details;
      return {
        ...known,
        decidedBy: [actor.id],
        claimBy: undefined,
        ...closed('REVOKED', 'revoke', 'human', textDigest),
      };
    }
    case 'approval_expired':
      return { ...known, decidedBy: [], claimBy: undefined, ...closed('REVOKED', 'revoke', 'timeout') };
    case 'approval_claimed':
      return { ...known, claim: entry.details.claimId, claimedBy: actor.id, claimedAt: at };
    case 'outcome_reported': {
      const { outcome, resultDigest } = entry.details;
      return { ...known, outcome, reportedAt: at, resultDigest };
    }
    case 'late_attempt':
    case 'precedent_revoked':
    case 'policy_published':
      return known;
  }
}

type Created = Extract<EntryEvent, { type: 'request_created' }>['details'];

/** What is allowed without a question is decided by the policy as it is asked. */
function accountAtFirst({ at, runId, run }: AuditEntry, details: Created): RequestAccount {
  const { status, actionDigest, textsDigest, policyDigest, requestedBy, onBehalfOf, approvals, deadline } = details;
  const { sample, reserved } = details;
  return {
    ...{ status, effectiveDigest: actionDigest, requestedBy, onBehalfOf, approvals, deadline },
    ...{ votes: [], editors: [], level: 0, decidedBy: [], asked: [...new Set(approvals.map(({ role }) => role))] },
    ...{ runId, missionId: run.missionId, requestedAt: at, argsDigest: actionDigest, textsDigest, policyDigest },
    ...{ sample, reserved },
    ...(status !== 'PENDING' && {
      decision: {
        word: status === 'APPROVED' ? 'approve' : 'reject',
        source: 'policy',
        decidedAt: at,
        textDigest: undefined,
      } as const,
      closedAt: at,
    }),
  };
}

function withVote(
  known: RequestAccount,
  { actor, at, details }: AuditEntry & { details: VoteDetails },
): RequestAccount {
  const { word, roles, argsDigest, editedDigest, textDigest, approvals = known.approvals } = details;
  const { reserved = known.reserved, policyDigest = known.policyDigest } = details;
  const vote: Vote = { approver: actor.id, word, roles, at };
  const digests = { ...(argsDigest && { argsDigest }), ...(textDigest && { textDigest }) };
  const edit = editedDigest && { editedDigest };
  return {
    ...known,
    votes: [...known.votes, { ...vote, ...digests, ...edit }],
    effectiveDigest: editedDigest ?? known.effectiveDigest,
    approvals,
    reserved,
    policyDigest,
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

function stateFault({ told: entries, last }: RequestReading, { state, contents }: StoredRequest): Fault | undefined {
  const told = { ...entries, ...actionOf(contents.get(entries.argsDigest)) };
  const { actionName, phase, sourceAgent, targetAgent } = state;
  const said: typeof told = { ...accountOf(state), actionName, phase, sourceAgent, targetAgent };
  if (told.policyDigest === undefined) delete said.policyDigest;
  if (told.decision?.source === 'policy' && told.status === 'APPROVED')
    told.claimBy = addSeconds(told.requestedAt, state.policy.validForSeconds);
  const text = (value: unknown) => (value === undefined ? 'none' : canonicalJson(value));
  for (const what of Object.keys({ ...told, ...said }) as (keyof typeof told)[]) {
    if (text(said[what]) === text(told[what])) continue;
    return {
      brokenAt: last.sequence,
      reason: `request ${state.requestId} says ${what} ${text(said[what])}; its entries say ${text(told[what])}`,
    };
  }
  return undefined;
}

/** What the state repeats of the action as it was asked. */
function actionOf(canonical = '{}'): Partial<Omit<Action, 'actionArgs'>> {
  const { actionName, phase, sourceAgent, targetAgent } = fromCanonical<Partial<Action>>(canonical);
  return {
    ...(actionName !== undefined && { actionName }),
    ...(phase !== undefined && { phase }),
    ...(sourceAgent !== undefined && { sourceAgent }),
    ...(targetAgent !== undefined && { targetAgent }),
  };
}
