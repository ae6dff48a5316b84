import { alertFor } from '../alert-text.ts';
import { wakeTime } from '../deadline.ts';
import { addSeconds } from '../instant.ts';
import type { Alerts, DeliveryStore, RequestStore, StoredRequest, World } from '../ports.ts';
import type { Owed } from '../request.ts';

interface DispatchPorts {
  store: Pick<RequestStore, 'readRequest'> & DeliveryStore;
  alerts: Alerts;
  world: World;
}

/** A dispatcher holds a delivery for so long; if it dies meanwhile, the next one sends it again under the same id. */
const leaseSeconds = 60;

/** 30 s, 1 min, 2 min … at most an hour. */
const backOffSeconds = (attempts: number): number => Math.min(3600, 30 * 2 ** (attempts - 1));

/**
 * Sends every alert that the request owes and whose time has come, and strikes each off when the topic has taken it. At least
 * once: a duplicate needs a crash between the two, and carries the same id. What fails stays owed, with back-off.
 */
export async function dispatchOwed(
  { store, alerts, world }: DispatchPorts,
  { requestId, webUrl }: { requestId: string; webUrl: string },
): Promise<{ delivered: string[]; postponed: string[] }> {
  const delivered: string[] = [];
  const postponed: string[] = [];
  const request = await store.readRequest(requestId);
  if (!request) return { delivered, postponed };
  const left: Record<string, Owed> = { ...request.state.owed };

  for (const [id, owed] of Object.entries(request.state.owed)) {
    const now = world.now();
    if (owed.nextAt > now) continue;
    if (!(await store.lease(requestId, id, owed.nextAt, addSeconds(now, leaseSeconds)))) continue;
    if (await send(request, id, owed)) {
      await store.strike(requestId, id, world.now());
      delete left[id];
      delivered.push(id);
    } else {
      const attempts = owed.attempts + 1;
      left[id] = { ...owed, attempts, nextAt: addSeconds(world.now(), backOffSeconds(attempts)) };
      await store.postpone(requestId, id, left[id]);
      postponed.push(id);
    }
  }
  if (delivered.length + postponed.length > 0) {
    const after = { ...request.state, owed: left };
    await store.rest(requestId, after.version, Object.keys(left), wakeTime(after));
  }
  return { delivered, postponed };

  async function send(asked: StoredRequest, deliveryId: string, owed: Owed): Promise<boolean> {
    try {
      await alerts.publish(alertFor({ request: asked, deliveryId, owed, webUrl }));
      return true;
    } catch {
      return false;
    }
  }
}
