import type * as z from 'zod';
import type { Content } from '../../core/action.ts';
import { openEntry } from '../../core/audit-chain.ts';
import type { AuditEntry } from '../../core/audit-entry.ts';
import { sha256Hex } from '../../core/canonical-json.ts';
import { CorruptRecordError } from '../../core/corrupt-record.ts';
import type { Instant } from '../../core/instant.ts';
import { owesOutcome } from '../../core/outcome-owed.ts';
import type { RequestSummary, StoredEntry } from '../../core/ports.ts';
import { awaitedRoles } from '../../core/quorum.ts';
import type { RequestState } from '../../core/request.ts';
import { stateSchema, summarySchema } from './state-schema.ts';
import { parts } from './tables.ts';

export type Item = Record<string, unknown>;

/** `due` and `closed` are spread over so many partitions, so that no single one has to carry all writes. */
export const shards = [0, 1, 2, 3] as const;

const shardOf = (requestId: string): string =>
  String(Number.parseInt(sha256Hex(requestId).slice(0, 2), 16) % shards.length);

export const closedDay = (day: string, shard: string | number): string => `${day}#${shard}`;

/** The day of an instant, UTC. */
export const dayOf = (instant: Instant): string => instant.slice(0, 10);

export const stateKey = (requestId: string) => ({ requestId, part: parts.state });

/** The attributes of the state item: the state's members by their own names, and what the sparse indexes need. */
export const stateItem = (state: RequestState): Item => ({
  ...state,
  part: parts.state,
  outcomeOwed: owesOutcome(state) ? true : undefined,
  dueShard: state.wakeAt === undefined ? undefined : shardOf(state.requestId),
  closedDay: 'closedAt' in state ? closedDay(dayOf(state.closedAt), shardOf(state.requestId)) : undefined,
});

/** `wakeAt` and the shard under which the sweep finds it come and go together. */
export const wake = (requestId: string, wakeAt: Instant | undefined): Item => ({
  wakeAt,
  dueShard: wakeAt === undefined ? undefined : shardOf(requestId),
});

export const contentItem = (requestId: string, { digest, canonical }: Content) => ({
  requestId,
  part: parts.content(digest),
  canonical,
});

/** One item for each role that is still asked, by its part. */
export const awaitsItems = (state: RequestState): Map<string, Item> =>
  new Map(
    awaitedRoles(state).map((role) => [
      parts.awaits(role),
      {
        requestId: state.requestId,
        part: parts.awaits(role),
        awaitsRole: role,
        deadline: state.deadline,
        summary: summarySchema.parse(state),
      },
    ]),
  );

export const entryItem = ({ runId, sequence, canonical, hash }: AuditEntry) => ({
  runId,
  sequence,
  entry: canonical,
  hash,
});

export function parseState(item: Item): RequestState {
  return parse(stateSchema, item, `${item.requestId}/${parts.state}`);
}

export const parseSummary = (item: Item): RequestSummary =>
  parse(summarySchema, item, `${item.requestId}/${item.part ?? 'summary'}`);

/** As it stands in the table, whatever was done to it. */
export const storedEntry = (item: Item): StoredEntry => ({
  runId: String(item.runId),
  sequence: Number(item.sequence),
  hash: typeof item.hash === 'string' ? item.hash : '',
  canonical: typeof item.entry === 'string' ? item.entry : '',
});

export function parseEntry(item: Item): AuditEntry {
  const stored = storedEntry(item);
  try {
    const entry = openEntry(stored);
    if (entry.runId === stored.runId && entry.sequence === stored.sequence) return entry;
  } catch {}
  throw new CorruptRecordError(`${stored.runId}/${stored.sequence}`, 'its entry does not belong to its key');
}

function parse<Schema extends z.ZodType>(schema: Schema, item: Item, record: string): z.infer<Schema> {
  const parsed = schema.safeParse(item);
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map((issue) => issue.path.join('.') || 'status').join(', ');
  throw new CorruptRecordError(record, `not as it was written: ${places}`);
}
