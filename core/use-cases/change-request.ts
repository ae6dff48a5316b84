import type { Content } from '../action.ts';
import { nextInChain, runFactsAfter, sealEntry } from '../audit-chain.ts';
import type { Actor, AuditEntry, EntryEvent } from '../audit-entry.ts';
import type { Change } from '../change.ts';
import { CountersignError } from '../errors.ts';
import { isPlainId } from '../fields.ts';
import { type Instant, toMilliseconds } from '../instant.ts';
import type { JsonValue } from '../json.ts';
import type { Move } from '../move.ts';
import type { RequestStore, StoredRequest, World } from '../ports.ts';
import type { Principal } from '../principal.ts';
import type { RequestState } from '../request.ts';
import { giveBack } from '../reservation.ts';
import type { Step } from '../step.ts';
import { notFound } from '../visibility.ts';

export interface ChangePorts {
  store: RequestStore;
  world: World;
}

/** What somebody wants done to one request. `until`: epoch milliseconds at which the caller's time is over. */
export interface Acting {
  requestId: string;
  body: JsonValue;
  principal: Principal;
  until: number;
}

/** Seals the next entry of the run and joins it to the state that it records. */
export function buildChange(
  step: { before?: RequestState; after: RequestState; event: EntryEvent; contents: Content[]; moves?: Move[] },
  { tail, actor, now }: { tail: AuditEntry | undefined; actor: Actor; now: Instant },
): Change {
  const { before, event, contents } = step;
  const { after, moves: returned } = giveBack(before, step.after);
  const moves = [...(step.moves ?? []), ...returned];
  const entry = sealEntry({
    ...event,
    ...nextInChain(tail),
    runId: after.runId,
    requestId: after.requestId,
    policyVersion: after.policy.version,
    at: now,
    actor,
    run: runFactsAfter(tail?.run, before, after),
  });
  return {
    ...(before && { before }),
    after: {
      ...after,
      version: (before?.version ?? 0) + 1,
      lastEntry: { sequence: entry.sequence, hash: entry.hash },
    },
    entry,
    contents,
    ...(moves.length > 0 && { moves }),
  };
}

/** The request as it stands after a committed change. */
export const changed = (contents: ReadonlyMap<string, string>, change: Change): StoredRequest => ({
  state: change.after,
  contents: new Map([...contents, ...change.contents.map(({ digest, canonical }) => [digest, canonical] as const)]),
});

/**
 * Runs `attempt` until it wins its race: a lost one loads again and decides again, after a pause with full jitter, for as long
 * as the caller's time allows; then `TOO_MANY_REQUESTS`. `attempt` answers `undefined` for a lost race.
 */
export async function untilWon<Result>(
  world: World,
  until: number,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  for (let tries = 0; ; tries++) {
    const result = await attempt();
    if (result !== undefined) return result;
    const wait = world.draw() * Math.min(1000, 10 * 2 ** Math.min(tries, 7));
    if (toMilliseconds(world.now()) + wait > until) break;
    await world.pause(wait);
  }
  throw new CountersignError(
    'TOO_MANY_REQUESTS',
    'Too many changes at once in this run; nothing was changed by this call. Try again.',
    { retryAfterSeconds: 1 },
  );
}

/** Loads a request, decides purely, commits once; again for as long as races are lost. Throws `NOT_FOUND` and what `decide` throws. */
export async function changeRequest(
  { store, world }: ChangePorts,
  { requestId, actor, until }: { requestId: string; actor: Actor; until: number },
  decide: (request: StoredRequest, now: Instant) => Step | Promise<Step>,
): Promise<StoredRequest> {
  if (!isPlainId(requestId)) throw notFound(requestId);
  return untilWon(world, until, async () => {
    const request = await store.readRequest(requestId);
    if (!request) throw notFound(requestId);
    const tail = await store.readTail(request.state.runId);
    const now = world.now();
    const step = await decide(request, now);
    switch (step.kind) {
      case 'same':
        return request;
      case 'late-again':
        await store.countLateAttempt(requestId, actor.id);
        throw step.refusal;
      case 'change': {
        const change = buildChange({ before: request.state, ...step }, { tail, actor, now });
        if ((await store.commit(change, until)) === 'conflict') return undefined;
        if (step.refusal) throw step.refusal;
        return changed(request.contents, change);
      }
    }
  });
}
