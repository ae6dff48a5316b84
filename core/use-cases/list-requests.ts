import * as z from 'zod';
import { checkBody } from '../check-body.ts';
import { CountersignError } from '../errors.ts';
import { pageLimit, plainId } from '../fields.ts';
import { addSeconds } from '../instant.ts';
import type { ListedRequest, Page, RequestLists, RequestSummary, World } from '../ports.ts';
import type { Principal } from '../principal.ts';
import { type Verdict, verdictOf } from '../request.ts';
import { mayRead } from '../visibility.ts';

const statuses = ['PENDING', 'APPROVED', 'REJECTED', 'RESPONDED', 'TIMED_OUT', 'CANCELLED', 'REVOKED'] as const;

/** The query of `GET /v1/requests`; every value is a string as it came. */
const listQuery = z.strictObject({
  /** One, or several that are answered joined by commas: what is no longer open is one list, walked once. */
  status: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(statuses)))
    .refine((list) => list.length === 1 || !list.includes('PENDING'), 'PENDING is listed apart from what is answered')
    .optional(),
  role: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'a role is 1 to 128 characters of A-Z a-z 0-9 _ . -')
    .optional(),
  runId: plainId.optional(),
  limit: pageLimit(25),
  cursor: z.string().max(8192).optional(),
});

type ListQuery = z.infer<typeof listQuery>;

/**
 * Summaries: of a run (oldest first), of what waits for a role or for any of the caller's (earliest deadline first), or of what
 * was answered (newest first, with a `status` other than `PENDING`); `role` is who is or was asked last. Only what the caller may see; so a page may be short and still have a cursor.
 * Throws `VALIDATION_FAILED`, `FORBIDDEN`.
 */
export async function listRequests(
  ports: { store: RequestLists; world: World },
  { principal, query }: { principal: Principal; query: Record<string, string | undefined> },
): Promise<Page<ListedRequest & { verdict: Verdict }>> {
  const asked = checkBody(listQuery, query, Object.keys(listQuery.shape), 'the query');
  const page = await pageOf(ports, asked, principal);
  const visible: RequestSummary[] = [];
  for (const item of page.items) {
    const wanted =
      (asked.status === undefined || asked.status.includes(item.status)) &&
      (asked.role === undefined || item.asked.includes(asked.role));
    if (wanted && mayRead(item, principal)) visible.push(item);
  }
  return {
    ...page,
    items: visible.map(({ missionRoles: _, ...item }) => ({ ...item, verdict: verdictOf(item.status) })),
  };
}

async function pageOf(
  { store, world }: { store: RequestLists; world: World },
  { status, role, runId, limit, cursor }: ListQuery,
  principal: Principal,
): Promise<Page<RequestSummary>> {
  if (runId !== undefined) return store.ofRun(runId, limit, cursor);
  if (!principal.scopes.some((scope) => scope === 'decide' || scope === 'audit'))
    throw new CountersignError('FORBIDDEN', 'An agent lists the requests of one run: give runId.');
  if (status !== undefined && !status.includes('PENDING'))
    return store.closed(addSeconds(world.now(), 1), limit, cursor);
  if (role !== undefined) return store.pendingForRole(role, limit, cursor);
  if (principal.roles.length === 0)
    throw new CountersignError(
      'VALIDATION_FAILED',
      'The token holds no role: give role, runId or a status other than PENDING.',
    );
  return store.pendingForRoles(principal.roles, limit, cursor);
}
