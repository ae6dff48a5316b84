import type { Content } from './action.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { Change } from './change.ts';
import type { Counter } from './counter.ts';
import type { Instant } from './instant.ts';
import type { Move } from './move.ts';
import type { MissionPolicy } from './policy.ts';
import type { Precedent } from './precedent.ts';
import type { PolicyHead, PublishedPolicy } from './published-policy.ts';
import type { Owed, RequestState, Status } from './request.ts';

/** A request with everything that it names. */
export interface StoredRequest {
  state: RequestState;
  contents: ReadonlyMap<string, Content['canonical']>;
}

/** A page of a list. `cursor` is opaque; absent on the last page. */
export interface Page<Item> {
  items: Item[];
  cursor?: string;
}

/** What lists carry: never arguments, never texts. */
export type RequestSummary = Pick<
  RequestState,
  | 'requestId'
  | 'runId'
  | 'missionId'
  | 'phase'
  | 'actionName'
  | 'requestedBy'
  | 'onBehalfOf'
  | 'requestedAt'
  | 'deadline'
  | 'level'
  | 'asked'
  | 'missionRoles'
> & {
  status: Status;
  /** The action was claimed and has not said how it ended, where the mission wants to hear it. */
  outcomeOwed?: true | undefined;
};

/** As it is answered: who may see it is nobody's business but the service's. */
export type ListedRequest = Omit<RequestSummary, 'missionRoles'>;

/**
 * - `committed`: all of it is stored, exactly once, also where the first acknowledgement was lost.
 * - `conflict`: none of it is. Somebody else wrote the request or the next entry of the run first: load again, decide again.
 */
export type CommitResult = 'committed' | 'conflict';

export interface RequestStore {
  /** State and all content in one strongly consistent read. */
  readRequest(requestId: string): Promise<StoredRequest | undefined>;
  /** The state alone, strongly consistent; one small read. */
  readState(requestId: string): Promise<RequestState | undefined>;
  /** What a create has to know beside the tail of its run, in one strongly consistent read: who took this id, the mission's head. */
  readForCreate(
    requestId: string | undefined,
    missionId: string,
  ): Promise<{ earlier?: RequestState | undefined; head?: PolicyHead | undefined }>;
  /** Those of the counters that there are, by name, in one strongly consistent read; none where no name is given. */
  readCounters(counters: readonly string[]): Promise<ReadonlyMap<string, Counter>>;
  /** The last entry of the run's chain, strongly consistent. */
  readTail(runId: string): Promise<AuditEntry | undefined>;
  /**
   * Writes the change in one transaction, on these conditions: the entry's sequence number is free; a new request's id is
   * free; the conditions of all `moves` hold; a known request still has the version of `before`; a vote comes before the
   * deadline and a claim before `claimBy` at the time of each try, past it `conflict` is the answer. Throttling, transaction
   * conflicts and lost acknowledgements are tried again
   * inside until `until` (epoch milliseconds), with jitter; an unclear answer is cleared up by reading the entry back
   * before anything is said. Past `until` it throws `TOO_MANY_REQUESTS`. Throws `VALIDATION_FAILED` when `revises` does not hold.
   * Fields of `owed` and `delivered` that `before` and `after` share are not written: `dispatch` may move them meanwhile.
   */
  commit(change: Change, until: number): Promise<CommitResult>;
  /** As `commit`, for an entry that is about no request: the entry and the moves, in one transaction. */
  record(entry: AuditEntry, moves: readonly Move[], until: number): Promise<CommitResult>;
  /** Counts one more late attempt of somebody whose first one is in the audit. Not on any version. */
  countLateAttempt(requestId: string, principal: string): Promise<void>;
}

export interface PrecedentStore {
  /** One small, strongly consistent read. */
  readPrecedent(key: Pick<Precedent, 'missionId' | 'precedentId'>): Promise<Precedent | undefined>;
  /** As `readCounters` and `readPrecedent`, in one read. */
  readCountersAndPrecedent(
    counters: readonly string[],
    key: Pick<Precedent, 'missionId' | 'precedentId'>,
  ): Promise<{ counters: ReadonlyMap<string, Counter>; precedent?: Precedent | undefined }>;
  /** Those of one action, revoked ones too, in no order that means anything; strongly consistent. */
  precedentsOf(
    of: Pick<Precedent, 'missionId' | 'actionName'>,
    limit: number,
    cursor?: string,
  ): Promise<Page<Precedent>>;
}

/** What the sweep and `dispatch` need beyond the above. None of these moves `version`. */
export interface DeliveryStore {
  /** Ids whose `wakeAt` has come, page after page to the end, from an eventually consistent index: read each before acting. */
  due(now: Instant): AsyncIterable<string>;
  /**
   * Takes one delivery for sending: moves `owed[id].nextAt` from `seen` to `until`. False when another dispatcher was first
   * or it is no longer owed.
   */
  lease(requestId: string, id: string, seen: Instant, until: Instant): Promise<boolean>;
  /** Strikes a delivery off and notes when it left; one that is no longer owed is left alone. */
  strike(requestId: string, id: string, at: Instant): Promise<void>;
  /** A try failed: `owed[id]` becomes `owed` (one more attempt, a later `nextAt`). */
  postpone(requestId: string, id: string, owed: Owed): Promise<void>;
  /** Sets `wakeAt` (or clears it) if the request still has this version and owes exactly these deliveries; otherwise does nothing: a sweep too early is harmless. */
  rest(requestId: string, version: number, owedIds: string[], wakeAt: Instant | undefined): Promise<void>;
}

/** Lists come from eventually consistent indexes; nothing is allowed because of them. A cursor that was not handed out is `VALIDATION_FAILED`. */
export interface RequestLists {
  /** What waits for a role, the earliest deadline first. */
  pendingForRole(role: string, limit: number, cursor?: string): Promise<Page<RequestSummary>>;
  /**
   * What waits for any of these roles, each request once, the earliest deadline first over all pages. The cursor names what it
   * took of the last deadline, so it grows where very many share one.
   */
  pendingForRoles(roles: readonly string[], limit: number, cursor?: string): Promise<Page<RequestSummary>>;
  /** The requests of a run, oldest first. */
  ofRun(runId: string, limit: number, cursor?: string): Promise<Page<RequestSummary>>;
  /** What is no longer pending, newest first; a page may be short, or empty with a cursor, where days hold nothing. */
  closed(before: Instant, limit: number, cursor?: string): Promise<Page<RequestSummary>>;
}

export interface AuditStore {
  /** Entries after the number `after` (absent: from the very first, whatever its number is), in order, strongly consistent, at most `limit`, exactly as stored: `canonical` and `hash` are not checked here. */
  entries(runId: string, after: number | undefined, limit: number): Promise<StoredEntry[]>;
}

/** An entry as the table holds it. `sequence` is the key; whether `canonical` agrees with it is for the verification to say. */
export interface StoredEntry {
  runId: string;
  sequence: number;
  hash: string;
  canonical: string;
}

/** One message to the topic. At least once: a duplicate carries the same `id`. */
export interface AlertMessage {
  /** `<requestId>/<delivery id>`. */
  id: string;
  requestId: string;
  kind: Owed['kind'];
  role: string;
  level: number;
  /** At most 99 printable ASCII characters, the first a letter or digit. */
  subject: string;
  email: string;
  /** GSM-7, at most 148 septets. */
  sms: string;
}

export interface Alerts {
  /** Resolves when the topic has taken the message; rejects otherwise. */
  publish(message: AlertMessage): Promise<void>;
}

export interface Policies {
  /** The mission of the file that was deployed with the function. */
  readonly deployed: MissionPolicy;
  /**
   * A published version, or the deployed one by its own; compiled once and kept, since a version never changes. `undefined`: it
   * is gone, never was, or is not valid any more.
   */
  find(missionId: string, version: string): Promise<MissionPolicy | undefined>;
}

/** Publishing is a `commit` or a `record` with the moves of the policy. */
export interface PolicyStore {
  /** Strongly consistent. `undefined`: nothing was ever published for the mission. */
  readHead(missionId: string): Promise<PolicyHead | undefined>;
  readPublished(missionId: string, version: number): Promise<PublishedPolicy | undefined>;
}

/** The outside world that a decision may look at, passed in. */
export interface World {
  now(): Instant;
  /** 128 random bits, 22 characters of base64url. */
  randomId(): string;
  /** Uniform in [0, 1). */
  draw(): number;
  pause(milliseconds: number): Promise<void>;
}
