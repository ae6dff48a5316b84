import * as z from 'zod';
import type { AuditEntry } from '../../core/audit-entry.ts';
import type { Change } from '../../core/change.ts';
import type { Counter } from '../../core/counter.ts';
import { isPast } from '../../core/deadline.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Instant } from '../../core/instant.ts';
import type { Move } from '../../core/move.ts';
import { owesOutcome } from '../../core/outcome-owed.ts';
import type {
  AuditStore,
  CommitResult,
  DeliveryStore,
  Page,
  PolicyStore,
  PrecedentStore,
  RequestLists,
  RequestStore,
  RequestSummary,
  StoredEntry,
  StoredRequest,
} from '../../core/ports.ts';
import type { Precedent } from '../../core/precedent.ts';
import type { PolicyHead, PublishedPolicy } from '../../core/published-policy.ts';
import { awaitedRoles } from '../../core/quorum.ts';
import type { Owed, RequestState } from '../../core/request.ts';
import { decodeCursor, encodeCursor } from '../dynamodb/cursor.ts';
import { summarySchema } from '../dynamodb/state-schema.ts';
import { mustBeBefore } from '../dynamodb/vote.ts';
import { MemoryRecords, placeOf, versionPlace } from './moves.ts';

interface Row {
  state: RequestState;
  contents: Map<string, string>;
}

/** The last item handed out, by what the list is ordered by. */
const position = z.strictObject({ list: z.string(), last: z.tuple([z.string(), z.string()]) });

/**
 * The ports of the store for tests of use cases: as atomic as the tables (each method runs without interruption), and what
 * goes in or out is copied.
 */
export class MemoryStore implements RequestStore, DeliveryStore, RequestLists, AuditStore, PrecedentStore, PolicyStore {
  readonly #requests = new Map<string, Row>();
  readonly #chains = new Map<string, AuditEntry[]>();
  readonly records = new MemoryRecords();
  readonly #now: (() => Instant) | undefined;

  /** `now`: the store's own clock; without one it believes the entries. */
  constructor(now?: () => Instant) {
    this.#now = now;
  }

  async readRequest(requestId: string): Promise<StoredRequest | undefined> {
    return structuredClone(this.#requests.get(requestId));
  }

  async readState(requestId: string): Promise<RequestState | undefined> {
    return structuredClone(this.#requests.get(requestId)?.state);
  }

  async readForCreate(requestId: string | undefined, missionId: string) {
    const earlier = requestId === undefined ? undefined : await this.readState(requestId);
    return { earlier, head: await this.readHead(missionId) };
  }

  async readHead(missionId: string): Promise<PolicyHead | undefined> {
    return structuredClone(this.records.heads.get(missionId));
  }

  async readPublished(missionId: string, version: number): Promise<PublishedPolicy | undefined> {
    return structuredClone(this.records.published.get(versionPlace({ missionId, version })));
  }

  async readCounters(counters: readonly string[]): Promise<ReadonlyMap<string, Counter>> {
    const found = counters.flatMap((key) => {
      const counter = this.records.counters.get(key);
      return counter ? [[key, structuredClone(counter)] as const] : [];
    });
    return new Map(found);
  }

  async readTail(runId: string): Promise<AuditEntry | undefined> {
    return structuredClone(this.#chains.get(runId)?.at(-1));
  }

  async commit(change: Change, _until: number): Promise<CommitResult> {
    const { before, after, entry, contents, revises, moves = [] } = structuredClone(change);
    const row = this.#requests.get(after.requestId);
    const chain = this.#chains.get(entry.runId) ?? [];
    if (entry.sequence !== chain.length + 1) return 'conflict';
    if (row?.state.version !== before?.version || row?.state.status !== before?.status) return 'conflict';
    const limit = mustBeBefore(change);
    if (limit && isPast(limit.instant, this.#now?.() ?? entry.at)) return 'conflict';
    if (!moves.every((move) => this.#holds(move))) return 'conflict';
    if (revises && this.#requests.get(revises.requestId)?.state.requestedBy !== revises.requestedBy) {
      throw new CountersignError(
        'VALIDATION_FAILED',
        `revisionOf is "${revises.requestId}", which is not one of your requests.`,
      );
    }
    const state = withoutAbsent(before && row ? withMembers(row.state, before, after) : after);
    const named = contents.map(({ digest, canonical }) => [digest, canonical] as const);
    this.#requests.set(after.requestId, { state, contents: new Map([...(row?.contents ?? []), ...named]) });
    this.#chains.set(entry.runId, [...chain, entry]);
    for (const move of moves) this.#apply(move);
    return 'committed';
  }

  async record(given: AuditEntry, givenMoves: readonly Move[], _until: number): Promise<CommitResult> {
    const [entry, moves] = structuredClone([given, givenMoves] as const);
    const chain = this.#chains.get(entry.runId) ?? [];
    if (entry.sequence !== chain.length + 1) return 'conflict';
    if (!moves.every((move) => this.#holds(move))) return 'conflict';
    this.#chains.set(entry.runId, [...chain, entry]);
    for (const move of moves) this.#apply(move);
    return 'committed';
  }

  async countLateAttempt(requestId: string, principal: string): Promise<void> {
    const state = this.#requests.get(requestId)?.state;
    if (state) state.lateAttempts[principal] = (state.lateAttempts[principal] ?? 0) + 1;
  }

  async *due(now: Instant): AsyncGenerator<string> {
    for (const { state } of [...this.#requests.values()]) {
      if (state.wakeAt !== undefined && state.wakeAt <= now) yield state.requestId;
    }
  }

  async lease(requestId: string, id: string, seen: Instant, until: Instant): Promise<boolean> {
    const owed = this.#requests.get(requestId)?.state.owed[id];
    if (owed?.nextAt !== seen) return false;
    owed.nextAt = until;
    return true;
  }

  async strike(requestId: string, id: string, at: Instant): Promise<void> {
    const state = this.#requests.get(requestId)?.state;
    if (!state?.owed[id]) return;
    delete state.owed[id];
    state.delivered[id] = at;
  }

  async postpone(requestId: string, id: string, owed: Owed): Promise<void> {
    const state = this.#requests.get(requestId)?.state;
    if (state?.owed[id]) state.owed[id] = structuredClone(owed);
  }

  async rest(requestId: string, version: number, owedIds: string[], wakeAt: Instant | undefined): Promise<void> {
    const state = this.#requests.get(requestId)?.state;
    if (state?.version !== version || !sameMembers(Object.keys(state.owed), owedIds)) return;
    if (wakeAt === undefined) delete state.wakeAt;
    else state.wakeAt = wakeAt;
  }

  async pendingForRole(role: string, limit: number, cursor?: string): Promise<Page<RequestSummary>> {
    const awaiting = this.#states().filter((state) => awaitedRoles(state).includes(role));
    return page(`role ${role}`, awaiting, (state) => state.deadline, limit, cursor);
  }

  async pendingForRoles(roles: readonly string[], limit: number, cursor?: string): Promise<Page<RequestSummary>> {
    const awaiting = this.#states().filter((state) => awaitedRoles(state).some((role) => roles.includes(role)));
    return page('roles', awaiting, (state) => state.deadline, limit, cursor);
  }

  async ofRun(runId: string, limit: number, cursor?: string): Promise<Page<RequestSummary>> {
    const inRun = this.#states().filter((state) => state.runId === runId);
    return page(`run ${runId}`, inRun, (state) => state.requestedAt, limit, cursor);
  }

  async closed(before: Instant, limit: number, cursor?: string): Promise<Page<RequestSummary>> {
    const closedAt = (state: RequestState) => ('closedAt' in state ? state.closedAt : '');
    const closed = this.#states().filter((state) => 'closedAt' in state && state.closedAt < before);
    return page('closed', closed, closedAt, limit, cursor, -1);
  }

  async entries(runId: string, after: number | undefined, limit: number): Promise<StoredEntry[]> {
    return (this.#chains.get(runId) ?? [])
      .slice(after ?? 0, (after ?? 0) + limit)
      .map(({ sequence, hash, canonical }) => ({ runId, sequence, hash, canonical }));
  }

  async readCountersAndPrecedent(counters: readonly string[], key: Pick<Precedent, 'missionId' | 'precedentId'>) {
    return { counters: await this.readCounters(counters), precedent: await this.readPrecedent(key) };
  }

  async readPrecedent(key: Pick<Precedent, 'missionId' | 'precedentId'>): Promise<Precedent | undefined> {
    return structuredClone(this.records.precedents.get(placeOf(key)));
  }

  async precedentsOf(
    { missionId, actionName }: Pick<Precedent, 'missionId' | 'actionName'>,
    limit: number,
    cursor?: string,
  ): Promise<Page<Precedent>> {
    const position = z.strictObject({
      missionId: z.literal(missionId),
      actionName: z.literal(actionName),
      last: z.string(),
    });
    const last = cursor === undefined ? '' : decodeCursor(position, cursor).last;
    const rest = [...this.records.precedents.values()]
      .filter((one) => one.missionId === missionId && one.actionName === actionName && one.precedentId > last)
      .sort((one, other) => (one.precedentId < other.precedentId ? -1 : 1));
    const items = structuredClone(rest.slice(0, limit));
    const end = items.at(-1)?.precedentId;
    return { items, ...(rest.length > limit && { cursor: encodeCursor({ missionId, actionName, last: end }) }) };
  }

  #holds(move: Move): boolean {
    if (move.kind !== 'entry') return this.records.holds(move);
    return move.entry.sequence === (this.#chains.get(move.entry.runId) ?? []).length + 1;
  }

  #apply(move: Move): void {
    if (move.kind !== 'entry') this.records.apply(move);
    else this.#chains.set(move.entry.runId, [...(this.#chains.get(move.entry.runId) ?? []), move.entry]);
  }

  #states(): RequestState[] {
    return [...this.#requests.values()].map(({ state }) => state);
  }
}

/** As in the tables: members that `before` and `after` share stay as they are now. */
function withMembers(now: RequestState, before: RequestState, after: RequestState): RequestState {
  const merged = <Value>(current: Record<string, Value>, old: Record<string, Value>, next: Record<string, Value>) =>
    Object.fromEntries([
      ...Object.entries(current).filter(([member]) => Object.hasOwn(next, member) || !Object.hasOwn(old, member)),
      ...Object.entries(next).filter(([member]) => !Object.hasOwn(old, member)),
    ]);
  return {
    ...after,
    owed: merged(now.owed, before.owed, after.owed),
    delivered: merged(now.delivered, before.delivered, after.delivered),
    lateAttempts: merged(now.lateAttempts, before.lateAttempts, after.lateAttempts),
  };
}

/** A member that is `undefined` is not stored. */
const withoutAbsent = (state: RequestState): RequestState =>
  Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined)) as unknown as RequestState;

const sameMembers = (one: string[], other: string[]): boolean =>
  one.length === other.length && one.every((member) => other.includes(member));

function page(
  list: string,
  states: RequestState[],
  orderedBy: (state: RequestState) => string,
  limit: number,
  cursor: string | undefined,
  direction: 1 | -1 = 1,
): Page<RequestSummary> {
  const keyOf = (state: RequestState): [string, string] => [orderedBy(state), state.requestId];
  const compare = (one: [string, string], other: [string, string]) =>
    one.join() === other.join() ? 0 : one.join() < other.join() ? -direction : direction;
  const last = cursor === undefined ? undefined : decodeCursor(position.extend({ list: z.literal(list) }), cursor).last;
  const rest = states
    .filter((state) => !last || compare(keyOf(state), last) > 0)
    .sort((one, other) => compare(keyOf(one), keyOf(other)));
  const taken = rest.slice(0, limit);
  const end = taken.at(-1);
  return {
    items: taken.map((state) => summarySchema.parse({ ...state, outcomeOwed: owesOutcome(state) || undefined })),
    ...(end && rest.length > taken.length && { cursor: encodeCursor({ list, last: keyOf(end) }) }),
  };
}
