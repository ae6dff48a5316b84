import * as z from 'zod';
import { openEntry } from '../audit-chain.ts';
import type { AuditEntry, EntryEvent } from '../audit-entry.ts';
import { canonicalJson, digestOf, fromCanonical } from '../canonical-json.ts';
import { checkBody } from '../check-body.ts';
import { CorruptRecordError } from '../corrupt-record.ts';
import { CountersignError } from '../errors.ts';
import { isPlainId, pageLimit } from '../fields.ts';
import type { JsonObject } from '../json.ts';
import { maskSecrets } from '../json-pointer.ts';
import type { AuditStore, RequestStore, StoredEntry, StoredRequest } from '../ports.ts';
import { digestsIn } from '../verification.ts';

const auditQuery = z.strictObject({
  limit: pageLimit(100),
  cursor: z
    .string()
    .regex(/^[1-9][0-9]{0,9}$/, 'a cursor is what the page before gave')
    .optional(),
});

/** A page ends with the entry whose contents go over this: escaped twice they stay within what a function may answer, 6 MB. */
const mostBytes = 2 * 1024 * 1024;

/** Requests are read a few at a time: one may hold megabytes. */
const atOnce = 10;

export const runNotFound = (runId: string): CountersignError =>
  new CountersignError('NOT_FOUND', `Nothing is stored of a run ${JSON.stringify(runId.slice(0, 128))}.`);

/**
 * The entries of a run in order, as they were sealed, each with the contents that it names by digest (values at secret paths
 * hidden; one that no longer has its digest is left out). The cursor is the last sequence of the page,
 * which ends before its limit where contents are large. Throws `NOT_FOUND`.
 */
export async function readAudit(
  { store }: { store: AuditStore & RequestStore },
  { runId, query = {} }: { runId: string; query?: Readonly<Record<string, string | undefined>> },
) {
  const { limit, cursor } = checkBody(auditQuery, query, Object.keys(auditQuery.shape), 'the query');
  const after = Number(cursor ?? 0);
  if (!isPlainId(runId)) throw runNotFound(runId);
  const stored = await store.entries(runId, after, limit);
  if (stored.length === 0 && after === 0) throw runNotFound(runId);
  const items: ReturnType<typeof shown>[] = [];
  let bytes = 0;
  for await (const item of shownInTurn(store, stored)) {
    items.push(item);
    bytes += Buffer.byteLength(canonicalJson(item.contents));
    if (bytes > mostBytes) break;
  }
  const last = stored[items.length - 1];
  const isEnd = items.length === stored.length && stored.length < limit;
  return { items, ...(last && !isEnd && { cursor: String(last.sequence) }) };
}

async function* shownInTurn(store: RequestStore, stored: readonly StoredEntry[]) {
  const requests = new Map<string, StoredRequest | undefined>();
  for (let at = 0; at < stored.length; at += atOnce) {
    const next = stored.slice(at, at + atOnce).map((one) => ({ one, entry: readable(one) }));
    const ids = new Set(next.flatMap(({ entry }) => entry?.requestId ?? []).filter((id) => !requests.has(id)));
    const read = await Promise.all([...ids].map(async (id) => [id, await find(store, id)] as const));
    for (const [id, request] of read) requests.set(id, request);
    for (const { one, entry } of next) yield shown(one, entry, requests.get(entry?.requestId ?? ''));
  }
}

function shown(
  { canonical: _, ...key }: StoredEntry,
  entry: AuditEntry | undefined,
  request: StoredRequest | undefined,
) {
  if (!entry) return { ...key, unreadable: true, contents: {} };
  const { canonical: __, ...facts } = entry;
  return { ...facts, contents: request ? contentsOf(entry, request) : {} };
}

/** An entry that was tampered with until it is none is shown as such; what is wrong is for the verification to say. */
function readable(stored: StoredEntry): AuditEntry | undefined {
  try {
    const entry = openEntry(stored);
    return Array.isArray(digestsIn(entry)) ? entry : undefined;
  } catch {
    return undefined;
  }
}

const find = (store: RequestStore, requestId: string): Promise<StoredRequest | undefined> =>
  store.readRequest(requestId).catch((error: unknown) => {
    if (error instanceof CorruptRecordError) return undefined;
    throw error;
  });

const contentsOf = (entry: EntryEvent, { state, contents }: StoredRequest): Record<string, JsonObject> =>
  Object.fromEntries(
    digestsIn(entry).flatMap((digest) => {
      const canonical = contents.get(digest);
      return canonical === undefined || digestOf(canonical) !== digest
        ? []
        : [[digest, maskSecrets(fromCanonical<JsonObject>(canonical), state.policy.secretPaths)]];
    }),
  );
