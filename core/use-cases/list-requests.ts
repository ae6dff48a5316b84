import * as z from 'zod';
import { canonicalJson } from '../canonical-json.ts';
import { checkBody } from '../check-body.ts';
import { CountersignError } from '../errors.ts';
import { plainId } from '../fields.ts';
import { addSeconds } from '../instant.ts';
import type { Page, Policies, RequestLists, RequestSummary, World } from '../ports.ts';
import type { Principal } from '../principal.ts';
import { type Verdict, verdictOf } from '../request.ts';
import { mayRead } from '../visibility.ts';

const statuses = ['PENDING', 'APPROVED', 'REJECTED', 'RESPONDED', 'TIMED_OUT', 'CANCELLED', 'REVOKED'] as const;

/** The query of `GET /v1/requests`; every value is a string as it came. */
export const listQuery = z.strictObject({
  status: z.enum(statuses).optional(),
  role: z.string().max(128).optional(),
  runId: plainId.optional(),
  limit: z.coerce.number('a whole number from 1 to 100').int().min(1).max(100).default(25),
  cursor: z.string().max(4096).optional(),
});

type ListQuery = z.infer<typeof listQuery>;

/**
 * Summaries: of a run (oldest first), of what waits for a role (earliest deadline first), or of what was answered (newest
 * first, with a `status` other than `PENDING`). Only what the caller may see; so a page may be short and still have a cursor.
 * Throws `VALIDATION_FAILED`, `FORBIDDEN`.
 */
export async function listRequests(
  ports: { store: RequestLists; policies: Policies; world: World },
  { principal, query }: { principal: Principal; query: Record<string, string | undefined> },
): Promise<Page<RequestSummary & { verdict: Verdict }>> {
  const asked = checkBody(listQuery, query, Object.keys(listQuery.shape));
  const page = await pageOf(ports, asked, principal);
  const visible: RequestSummary[] = [];
  for (const item of page.items) {
    const wanted = asked.status === undefined || item.status === asked.status;
    if (wanted && (await mayRead(ports.policies, item, principal))) visible.push(item);
  }
  return { ...page, items: visible.map((item) => ({ ...item, verdict: verdictOf(item.status) })) };
}

async function pageOf(
  { store, world }: { store: RequestLists; world: World },
  { status, role, runId, limit, cursor }: ListQuery,
  principal: Principal,
): Promise<Page<RequestSummary>> {
  if (runId !== undefined) return store.ofRun(runId, limit, cursor);
  if (!principal.scopes.some((scope) => scope === 'decide' || scope === 'audit'))
    throw new CountersignError('FORBIDDEN', 'An agent lists the requests of one run: give runId.');
  if (status !== undefined && status !== 'PENDING') return store.closed(addSeconds(world.now(), 1), limit, cursor);
  if (role !== undefined) return store.pendingForRole(role, limit, cursor);
  return ofAllRoles(store, principal, limit, cursor);
}

/** What waits for any of a person's roles, merged. The cursor holds where each role stands; a role that is through is not in it. */
async function ofAllRoles(
  store: RequestLists,
  { roles }: Principal,
  limit: number,
  cursor: string | undefined,
): Promise<Page<RequestSummary>> {
  if (roles.length === 0)
    throw new CountersignError(
      'VALIDATION_FAILED',
      'The token holds no role: give role, runId or a status other than PENDING.',
    );
  const standing: Record<string, string | undefined> = cursor === undefined ? {} : openCursor(cursor);
  const open = cursor === undefined ? roles : roles.filter((role) => Object.hasOwn(standing, role));
  const share = Math.max(1, Math.floor(limit / Math.max(1, open.length)));
  const pages = await Promise.all(open.map((role) => store.pendingForRole(role, share, standing[role])));
  const unique = new Map(pages.flatMap(({ items }) => items).map((item) => [item.requestId, item]));
  const items = [...unique.values()].sort((a, b) => (a.deadline < b.deadline ? -1 : 1));
  const next = open.flatMap((role, index) => {
    const more = pages[index]?.cursor;
    return more === undefined ? [] : [[role, more] as const];
  });
  return next.length === 0 ? { items } : { items, cursor: sealCursor(Object.fromEntries(next)) };
}

const standings = z.record(z.string(), z.string());

const sealCursor = (standing: Record<string, string>): string =>
  Buffer.from(canonicalJson(standing)).toString('base64url');

function openCursor(cursor: string): Record<string, string> {
  try {
    return standings.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw new CountersignError('VALIDATION_FAILED', '/cursor is none that this list gave.');
  }
}
