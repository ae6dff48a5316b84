import { type DecimalText, isNegative, sumOf } from './exact-decimal.ts';

/**
 * What is counted across runs, in an item of its own beside the requests. One shape for all: a window has buckets, a cap has
 * `pending`, the place of a question that equals another has `heldBy`.
 */
export interface Counter {
  /** Moved by every write that adds to a window: whoever decided on less is refused. */
  version: number;
  /** The longest time over which a policy looked at it: what is younger is not forgotten. */
  keepSeconds: number;
  buckets: Bucket[];
  pending: number;
  heldBy?: string;
}

/** What was reserved in a stretch of time, named by the second at which it ends: so a window may change its length. */
export interface Bucket {
  /** Epoch seconds. */
  end: number;
  sum: DecimalText;
  count: number;
}

export const nothingCounted: Counter = { version: 0, keepSeconds: 0, buckets: [], pending: 0 };

/** A part of a counter that a request holds. It stands on the state, so that giving it back needs no policy. */
export type Reservation =
  /** Until the request ends in anything but an approval. */
  | { kind: 'window'; window: string; counter: string; bucket: number; amount: DecimalText }
  /** One of the agent's pending requests; until this one is no longer pending. */
  | { kind: 'pending'; counter: string }
  /** The place of the one pending request of its run that asks exactly this. */
  | { kind: 'equal'; counter: string };

export type WindowReservation = Extract<Reservation, { kind: 'window' }>;

/** The one write of a counter in a transaction. */
export type CounterMove =
  /** Adds to a window that is still as it was read (`seen` 0: not there), and forgets buckets that have left it. */
  | (OnBucket & { does: 'add'; seen: number; keepSeconds: number; forget: number[] })
  /** Takes from a window, whatever happened to it meanwhile. */
  | (OnBucket & { does: 'take' })
  /** One more pending request, where there are fewer than `atMost`. */
  | { kind: 'counter'; counter: string; does: 'enter'; atMost: number }
  | { kind: 'counter'; counter: string; does: 'leave' }
  /** Takes the place where nobody holds it. */
  | { kind: 'counter'; counter: string; does: 'hold'; requestId: string }
  | { kind: 'counter'; counter: string; does: 'letGo' }
  /** Writes nothing; nobody may hold the place. */
  | { kind: 'counter'; counter: string; does: 'checkFree' };

interface OnBucket {
  kind: 'counter';
  counter: string;
  bucket: number;
  amount: DecimalText;
  count: 0 | 1;
}

/** What a bucket holds at least: one that was forgotten before its last amount was given back is below zero. */
export const readableBucket = ({ end, sum, count }: Bucket): Bucket => ({
  end,
  sum: isNegative(sum) ? '0' : sum,
  count: Math.max(0, count),
});

/** The counter after a move; `undefined` where the move's condition does not hold. For stores that have no such write of their own. */
export function counterAfter(counter: Counter, move: CounterMove): Counter | undefined {
  switch (move.does) {
    case 'add':
      if (counter.version !== move.seen) return undefined;
      return {
        ...withBucket(counter, move.bucket, move.amount, move.count, move.forget),
        version: move.seen + 1,
        keepSeconds: move.keepSeconds,
      };
    case 'take':
      return withBucket(counter, move.bucket, `-${move.amount}`, -move.count, []);
    case 'enter':
      return counter.pending < move.atMost ? { ...counter, pending: counter.pending + 1 } : undefined;
    case 'leave':
      return { ...counter, pending: counter.pending - 1 };
    case 'hold':
      return counter.heldBy === undefined ? { ...counter, heldBy: move.requestId } : undefined;
    case 'checkFree':
      return counter.heldBy === undefined ? counter : undefined;
    case 'letGo': {
      const { heldBy: _, ...rest } = counter;
      return rest;
    }
  }
}

function withBucket(
  counter: Counter,
  end: number,
  amount: DecimalText,
  count: number,
  forget: readonly number[],
): Counter {
  const kept = counter.buckets.filter((bucket) => bucket.end !== end && !forget.includes(bucket.end));
  const old = counter.buckets.find((bucket) => bucket.end === end) ?? { sum: '0', count: 0 };
  const bucket = { end, sum: sumOf(old.sum, amount), count: old.count + count };
  return { ...counter, buckets: [...kept, bucket].sort((a, b) => a.end - b.end) };
}
