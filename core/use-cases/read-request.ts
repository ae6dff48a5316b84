import { isPlainId } from '../fields.ts';
import type { RequestStore, StoredRequest } from '../ports.ts';
import type { Principal } from '../principal.ts';
import { notFound, requireVisible } from '../visibility.ts';

/** Throws `NOT_FOUND`, also for what exists and may not be seen. */
export async function readRequestFor(
  { store }: { store: RequestStore },
  { requestId, principal }: { requestId: string; principal: Principal },
): Promise<StoredRequest> {
  const request = isPlainId(requestId) ? await store.readRequest(requestId) : undefined;
  if (!request) throw notFound(requestId);
  requireVisible(request.state, principal);
  return request;
}
