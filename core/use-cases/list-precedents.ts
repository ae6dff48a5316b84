import * as z from 'zod';
import { checkBody } from '../check-body.ts';
import { CountersignError } from '../errors.ts';
import { isPlainId, requiredText } from '../fields.ts';
import type { Page, PrecedentStore } from '../ports.ts';
import type { Precedent } from '../precedent.ts';
import type { Principal } from '../principal.ts';

const precedentsQuery = z.strictObject({
  actionName: requiredText(512),
  limit: z.coerce.number('a whole number from 1 to 100').int().min(1).max(100).default(25),
  cursor: z.string().max(8192).optional(),
});

/**
 * What makes an action of a mission no longer novel, and what did until it was revoked. None holds a value of the arguments: the
 * request that it came from shows them to whoever may see it. Throws `FORBIDDEN`, `VALIDATION_FAILED`, `NOT_FOUND`.
 */
export async function listPrecedents(
  { store }: { store: PrecedentStore },
  {
    missionId,
    principal,
    query,
  }: {
    missionId: string;
    principal: Principal;
    query: Record<string, string | undefined>;
  },
): Promise<Page<Precedent>> {
  if (!principal.scopes.some((scope) => scope === 'decide' || scope === 'audit'))
    throw new CountersignError('FORBIDDEN', 'Precedents are for people and auditors: the token needs decide or audit.');
  const { actionName, limit, cursor } = checkBody(precedentsQuery, query, Object.keys(precedentsQuery.shape));
  if (!isPlainId(missionId)) return { items: [] };
  return store.precedentsOf({ missionId, actionName }, limit, cursor);
}
