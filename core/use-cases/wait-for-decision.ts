import { toMilliseconds } from '../instant.ts';
import type { RequestStore, StoredRequest, World } from '../ports.ts';
import type { Principal } from '../principal.ts';
import { readRequestFor } from './read-request.ts';

/** How long between two looks at a request that somebody waits for. */
const lookEvery = 500;

/**
 * Answers as soon as the request has left `PENDING`, at once where it has already, and with the pending request after `seconds`.
 */
export async function waitForDecision(
  ports: { store: RequestStore; world: World },
  { requestId, principal, seconds, until }: { requestId: string; principal: Principal; seconds: number; until: number },
): Promise<StoredRequest> {
  const { store, world } = ports;
  const first = await readRequestFor(ports, { requestId, principal });
  if (first.state.status !== 'PENDING' || seconds === 0) return first;
  const end = Math.min(toMilliseconds(world.now()) + seconds * 1000, until);
  const left = () => end - toMilliseconds(world.now());
  while (left() > 0) {
    await world.pause(Math.min(lookEvery, left()));
    const state = await store.readState(requestId);
    if (state?.status !== 'PENDING') break;
  }
  return readRequestFor(ports, { requestId, principal });
}
