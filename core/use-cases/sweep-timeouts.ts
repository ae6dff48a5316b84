import { wakeTime } from '../deadline.ts';
import { toMilliseconds } from '../instant.ts';
import type { Alerts, DeliveryStore, RequestStore, World } from '../ports.ts';
import { timeOut } from '../timeout.ts';
import { changeRequest } from './change-request.ts';
import { dispatchOwed } from './dispatch-owed.ts';

export interface SweepPorts {
  store: RequestStore & DeliveryStore;
  alerts: Alerts;
  world: World;
}

export interface SweepResult {
  /** Requests looked at without trouble. */
  handled: number;
  /** Ids at which something went wrong; they stay due and the others went on. */
  failed: { requestId: string; reason: string }[];
  /** The time was over first; the rest is still due and the next sweep takes it. */
  unfinished: boolean;
}

const atOnce = 8;

/**
 * Looks at every request whose `wakeAt` has come: its timeout first, then what it owes. A person who was faster stands. One bad
 * record never stops the others.
 */
export async function sweepTimeouts(
  ports: SweepPorts,
  { until, webUrl }: { until: number; webUrl: string },
): Promise<SweepResult> {
  const result: SweepResult = { handled: 0, failed: [], unfinished: false };
  const isOver = () => toMilliseconds(ports.world.now()) >= until;
  const due = ports.store.due(ports.world.now())[Symbol.asyncIterator]();
  const worker = async () => {
    while (!isOver()) {
      const { value: requestId, done } = await due.next();
      if (done) return;
      try {
        await attend(ports, { requestId, until, webUrl });
        result.handled += 1;
      } catch (error) {
        result.failed.push({ requestId, reason: error instanceof Error ? error.message : String(error) });
      }
    }
    result.unfinished = true;
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return result;
}

async function attend(
  ports: SweepPorts,
  { requestId, until, webUrl }: { requestId: string; until: number; webUrl: string },
): Promise<void> {
  const before = ports.world.now();
  const { state } = await changeRequest(
    ports,
    { requestId, actor: { kind: 'service', id: 'sweep' }, until },
    (request, now) => timeOut(request.state, now),
  );
  const overdue = Object.values(state.owed).some(({ nextAt }) => nextAt <= before);
  if (overdue) await dispatchOwed(ports, { requestId, webUrl });
  else if (state.wakeAt !== wakeTime(state))
    await ports.store.rest(requestId, state.version, Object.keys(state.owed), wakeTime(state));
}
