import type { Action } from './action.ts';
import { canonicalJson, sha256Hex } from './canonical-json.ts';
import type { CounterMove, Reservation } from './counter.ts';
import type { Instant } from './instant.ts';
import type { Effect } from './policy.ts';
import type { RequestState } from './request.ts';
import type { Step } from './step.ts';
import { type Counted, type Counters, reserve, reserveAgain, type Window } from './window.ts';

/** Where a new request has to find room, beside its windows, if it is to wait. */
export interface Places {
  /** The agent's pending requests under the mission. */
  agent?: { counter: string; atMost: number };
  /** The question itself: of equal ones in a run at most one waits. */
  equal?: { counter: string; isChecked: boolean };
}

export const pendingOfAgent = (missionId: string, agent: string): string => `pending#${missionId}#${agent}`;

/** Under this name at most one request waits that the same agent asked with the same body. */
export const placeOfQuestion = (requestedBy: string, bodyDigest: string): string =>
  `equal#${sha256Hex(`countersign/equal-question/v1\n${canonicalJson([requestedBy, bodyDigest])}`)}`;

/** What a new request reserves, and the writes that do it. One that is stopped reserves nothing. */
export function reserveFor(
  effect: Effect,
  requestId: string,
  windows: readonly Window[],
  counters: Counters,
  asking: { who: Counted; action: Action; now: Instant; places: Places },
): { reserved: Reservation[]; moves: CounterMove[] } {
  const { agent, equal } = asking.places;
  const inWindows = effect === 'stop' ? { reserved: [], moves: [] } : reserve(windows, counters, asking);
  const reserved: Reservation[] = [...inWindows.reserved];
  const moves: CounterMove[] = [...inWindows.moves];
  if (effect === 'pause' && agent) {
    reserved.push({ kind: 'pending', counter: agent.counter });
    moves.push({ kind: 'counter', counter: agent.counter, does: 'enter', atMost: agent.atMost });
  }
  if (effect === 'pause' && equal) {
    reserved.push({ kind: 'equal', counter: equal.counter });
    moves.push({ kind: 'counter', counter: equal.counter, does: 'hold', requestId });
  }
  if (effect !== 'pause' && equal?.isChecked)
    moves.push({ kind: 'counter', counter: equal.counter, does: 'checkFree' });
  return { reserved, moves };
}

/** What an edit reserves is what the edited arguments ask for. */
export function reservedAfterEdit(
  step: Step,
  { reserved = [] }: RequestState,
  windows: readonly Window[],
  counters: Counters,
  edited: { action: Action; now: Instant },
): Step {
  if (step.kind !== 'change' || reserved.length === 0) return step;
  const again = reserveAgain(reserved, windows, counters, edited);
  if (again.moves.length === 0) return step;
  const { event } = step;
  const after = { ...step.after, reserved: again.reserved };
  const moves = [...(step.moves ?? []), ...again.moves];
  switch (event.type) {
    case 'arguments_edited':
      return { ...step, after, moves, event: { ...event, details: { ...event.details, ...inEntry(after) } } };
    case 'request_approved':
      return { ...step, after, moves, event: { ...event, details: { ...event.details, ...inEntry(after) } } };
    default:
      throw new Error(`${event.type} is no edit`);
  }
}

/** What a request holds of windows, as entries and accounts say it. */
export interface Held {
  window: string;
  bucket: number;
  amount: string;
}

const heldBy = ({ reserved = [] }: Pick<RequestState, 'reserved'>): Held[] =>
  reserved.flatMap((one) =>
    one.kind === 'window' ? [{ window: one.window, bucket: one.bucket, amount: one.amount }] : [],
  );

export const inEntry = (state: Pick<RequestState, 'reserved'>): { reserved?: Held[] } => {
  const held = heldBy(state);
  return held.length > 0 ? { reserved: held } : {};
};

/**
 * A change with what it no longer needs given back: a place among those that wait with the end of waiting, a part of a window
 * with any end but an approval.
 */
export function giveBack<State extends RequestState>(
  before: RequestState | undefined,
  after: State,
): { after: State; moves: CounterMove[] } {
  const { reserved = [], ...rest } = after;
  const kept = reserved.filter((one) => isKept(one, after));
  const names = new Set(kept.map(({ counter }) => counter));
  const gone = (before?.reserved ?? []).filter(({ counter }) => !names.has(counter));
  return {
    after: (kept.length > 0 ? { ...rest, reserved: kept } : rest) as State,
    moves: gone.map(returned),
  };
}

function isKept({ kind }: Reservation, { status }: RequestState): boolean {
  switch (status) {
    case 'PENDING':
      return true;
    case 'APPROVED':
      return kind === 'window';
    case 'REJECTED':
    case 'RESPONDED':
    case 'TIMED_OUT':
    case 'CANCELLED':
    case 'REVOKED':
      return false;
  }
}

function returned(held: Reservation): CounterMove {
  const { counter } = held;
  switch (held.kind) {
    case 'window':
      return { kind: 'counter', counter, does: 'take', bucket: held.bucket, amount: held.amount, count: 1 };
    case 'pending':
      return { kind: 'counter', counter, does: 'leave' };
    case 'equal':
      return { kind: 'counter', counter, does: 'letGo' };
  }
}
