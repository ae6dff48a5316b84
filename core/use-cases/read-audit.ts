import * as z from 'zod';
import { openEntry } from '../audit-chain.ts';
import type { EntryEvent } from '../audit-entry.ts';
import { fromCanonical } from '../canonical-json.ts';
import { checkBody } from '../check-body.ts';
import { CountersignError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { maskSecrets } from '../json-pointer.ts';
import type { AuditStore, RequestStore, StoredRequest } from '../ports.ts';
import { digestsIn } from '../verification.ts';

const auditQuery = z.strictObject({
  limit: z.coerce.number('a whole number from 1 to 100').int().min(1).max(100).default(100),
  cursor: z
    .string()
    .regex(/^[1-9][0-9]{0,9}$/, 'a cursor is what the page before gave')
    .optional(),
});

export const runNotFound = (runId: string): CountersignError =>
  new CountersignError('NOT_FOUND', `Nothing is stored of a run ${JSON.stringify(runId.slice(0, 128))}.`);

/**
 * The entries of a run in order, as they were sealed, each with the contents that it names by digest (values at secret paths
 * hidden). The cursor is the last sequence of the page. Throws `NOT_FOUND`.
 */
export async function readAudit(
  { store }: { store: AuditStore & RequestStore },
  { runId, ...query }: { runId: string; cursor?: string | undefined; limit?: string | number | undefined },
) {
  const { limit, cursor } = checkBody(auditQuery, query, Object.keys(auditQuery.shape));
  const after = Number(cursor ?? 0);
  const stored = await store.entries(runId, after, limit);
  if (stored.length === 0 && after === 0) throw runNotFound(runId);
  const entries = stored.map(openEntry);
  const ids = [...new Set(entries.map(({ requestId }) => requestId))].filter((id) => id !== undefined);
  const requests = new Map(await Promise.all(ids.map(async (id) => [id, await store.readRequest(id)] as const)));
  const last = stored.at(-1);
  return {
    items: entries.map(({ canonical: _, ...entry }) => {
      const request = entry.requestId === undefined ? undefined : requests.get(entry.requestId);
      return { ...entry, contents: request ? contentsOf(entry, request) : {} };
    }),
    ...(stored.length === limit && last && { cursor: String(last.sequence) }),
  };
}

const contentsOf = (entry: EntryEvent, { state, contents }: StoredRequest): Record<string, JsonObject> =>
  Object.fromEntries(
    digestsIn(entry).flatMap((digest) => {
      const canonical = contents.get(digest);
      return canonical === undefined
        ? []
        : [[digest, maskSecrets(fromCanonical<JsonObject>(canonical), state.policy.secretPaths)]];
    }),
  );
