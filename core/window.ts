import type { Action } from './action.ts';
import {
  type Counter,
  type CounterMove,
  nothingCounted,
  type Reservation,
  readableBucket,
  type WindowReservation,
} from './counter.ts';
import { amountOf, type DecimalText, isNegative, minus, sumOf } from './exact-decimal.ts';
import { type Instant, toMilliseconds } from './instant.ts';
import type { JsonObject } from './json.ts';
import { valueAt } from './json-pointer.ts';
import type { ActionPolicy, MissionPolicy } from './policy.ts';
import { folded } from './principal.ts';

/** A rolling window, declared by a policy: what a run, an agent or a subject was granted in it, and what is pending. */
export interface Window {
  id: string;
  by: 'run' | 'agent' | 'subject';
  /** JSON Pointer into the arguments of what is summed; absent: requests are only counted. */
  value?: string;
  overSeconds: number;
  /** The actions that it counts; absent: all of the mission. */
  actions?: ReadonlySet<string>;
}

/** What a condition sees as `window.<id>`, without the request that is judged. */
export interface WindowReading {
  sum: number;
  count: number;
}

export type Counters = ReadonlyMap<string, Counter>;

/** Whose windows: the names by which a request is counted. */
export interface Counted {
  missionId: string;
  runId: string;
  requestedBy: string;
  onBehalfOf?: string | undefined;
}

/** A window is cut into so many buckets: an amount counts for at most a 60th longer than the window lasts, and never shorter. */
const bucketsPerWindow = 60;
const mostBuckets = 600;
/** In one write. */
const mostForgotten = 100;

/** The windows that an action is counted in, and those that a rule over it names. */
export function windowsFor(
  mission: Pick<MissionPolicy, 'windows' | 'rules'>,
  policy: Pick<ActionPolicy, 'rules'>,
  actionName: string,
): Window[] {
  const sources = [...mission.rules, ...policy.rules].map(({ condition }) => condition.source);
  return mission.windows.filter(
    (window) => counts(window, actionName) || sources.some((source) => source.includes(window.id)),
  );
}

const counts = ({ actions }: Window, actionName: string): boolean => actions?.has(actionName) ?? true;

/** The key of a window's counter; `undefined` for a window by subject where the agent acts for nobody. */
export function counterOf(
  { id, by }: Window,
  { missionId, runId, requestedBy, onBehalfOf }: Counted,
): string | undefined {
  const value = { run: runId, agent: requestedBy, subject: onBehalfOf === undefined ? undefined : folded(onBehalfOf) }[
    by
  ];
  return value === undefined ? undefined : `window#${missionId}#${id}#${by}#${value}`;
}

/**
 * What the windows hold at `now`, by id, without what `own` holds of them. A window that cannot be read for this action (no
 * subject, a value that is missing, no number, negative, or too large or fine to be summed exactly) is left out: a condition
 * that names it cannot be evaluated, which is a pause.
 */
export function readWindows(
  windows: readonly Window[],
  counters: Counters,
  { who, action, now, own = [] }: { who: Counted; action: Action; now: Instant; own?: readonly Reservation[] },
): Map<string, WindowReading> {
  const readings = new Map<string, WindowReading>();
  for (const window of windows) {
    const key = counterOf(window, who);
    if (key === undefined || (counts(window, action.actionName) && amountIn(window, action.actionArgs) === undefined))
      continue;
    const held = own.find((one) => one.kind === 'window' && one.counter === key) as WindowReservation | undefined;
    const since = toMilliseconds(now) / 1000 - window.overSeconds;
    const live = (counters.get(key) ?? nothingCounted).buckets.filter(({ end }) => end > since).map(readableBucket);
    const isOwn = held !== undefined && live.some(({ end }) => end === held.bucket);
    const sum = sumOf(...live.map((bucket) => bucket.sum), ...(isOwn ? [negative(held.amount)] : []));
    const count = live.reduce((total, bucket) => total + bucket.count, isOwn ? -1 : 0);
    readings.set(window.id, { sum: Number(isNegative(sum) ? '0' : sum), count: Math.max(0, count) });
  }
  return readings;
}

const negative = (amount: DecimalText): DecimalText => minus('0', amount);

const amountIn = ({ value }: Window, actionArgs: JsonObject): DecimalText | undefined =>
  value === undefined ? '0' : amountOf(valueAt(actionArgs, value));

/**
 * What a new request takes of each window that counts its action, and the writes that take it, each on the counter as it was
 * read. A value that cannot be summed is counted all the same. What has already run is not asked for, so it is not counted.
 */
export function reserve(
  windows: readonly Window[],
  counters: Counters,
  { who, action, now }: { who: Counted; action: Action; now: Instant },
): { reserved: WindowReservation[]; moves: CounterMove[] } {
  const reserved: WindowReservation[] = [];
  const moves: CounterMove[] = [];
  for (const window of action.phase === 'before' ? windows : []) {
    const counter = counterOf(window, who);
    if (counter === undefined || !counts(window, action.actionName)) continue;
    const bucket = bucketAt(window, counters.get(counter) ?? nothingCounted, now);
    const amount = amountIn(window, action.actionArgs) ?? '0';
    reserved.push({ kind: 'window', window: window.id, counter, bucket, amount });
    moves.push({ ...addition(counter, window, counters, bucket, now), amount, count: 1 });
  }
  return { reserved, moves };
}

/** What an edit makes of the request's reservations: each moves by the difference; one whose window is no longer declared stays. */
export function reserveAgain(
  reserved: readonly Reservation[],
  windows: readonly Window[],
  counters: Counters,
  { action, now }: { action: Action; now: Instant },
): { reserved: Reservation[]; moves: CounterMove[] } {
  const moves: CounterMove[] = [];
  const again = reserved.map((held): Reservation => {
    const window = held.kind === 'window' && windows.find(({ id }) => id === held.window);
    if (held.kind !== 'window' || !window) return held;
    const amount = amountIn(window, action.actionArgs) ?? '0';
    const { counter, bucket } = held;
    const difference = minus(amount, held.amount);
    if (isNegative(difference))
      moves.push({ kind: 'counter', counter, does: 'take', bucket, amount: negative(difference), count: 0 });
    else if (difference !== '0')
      moves.push({ ...addition(counter, window, counters, bucket, now), amount: difference, count: 0 });
    return { ...held, amount };
  });
  return { reserved: again, moves };
}

/** Forgets what no window over this counter looks at any more; `bucket` itself is written, so it stays. */
function addition(counter: string, { overSeconds }: Window, counters: Counters, bucket: number, now: Instant) {
  const { version, buckets, ...known } = counters.get(counter) ?? nothingCounted;
  const keepSeconds = Math.max(known.keepSeconds, overSeconds);
  const since = toMilliseconds(now) / 1000 - keepSeconds;
  const gone = buckets.map(({ end }) => end).filter((end) => end <= since && end !== bucket);
  return {
    kind: 'counter' as const,
    counter,
    does: 'add' as const,
    seen: version,
    keepSeconds,
    bucket,
    forget: gone.slice(0, mostForgotten),
  };
}

/**
 * The end of the bucket in which an instant lies, in epoch seconds. A window that became much shorter under the same id has
 * wider buckets, so that the counter stays small.
 */
function bucketAt({ overSeconds }: Window, { keepSeconds }: Counter, now: Instant): number {
  const width = Math.ceil(Math.max(overSeconds / bucketsPerWindow, keepSeconds / mostBuckets));
  return (Math.floor(toMilliseconds(now) / 1000 / width) + 1) * width;
}
