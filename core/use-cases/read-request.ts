import { isPlainId } from '../fields.ts';
import type { Policies, RequestStore, StoredRequest } from '../ports.ts';
import type { Principal } from '../principal.ts';
import { notFound, requireVisible } from '../visibility.ts';

/** Throws `NOT_FOUND`, also for what exists and may not be seen. */
export async function readRequestFor(
  { store, policies }: { store: RequestStore; policies: Policies },
  { requestId, principal }: { requestId: string; principal: Principal },
): Promise<StoredRequest> {
  const request = isPlainId(requestId) ? await store.readRequest(requestId) : undefined;
  if (!request) throw notFound(requestId);
  await requireVisible(policies, request.state, principal);
  return request;
}
