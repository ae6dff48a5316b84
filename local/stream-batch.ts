import { setTimeout as pause } from 'node:timers/promises';
import type { Invocation } from './functions.ts';
import type { StreamRecord } from './stream-reader.ts';

export interface StreamBatch {
  shardId: string;
  records: readonly StreamRecord[];
  /** Invocations with these records so far. */
  attempts: number;
}

export interface StreamDelivery {
  invoke(batch: StreamBatch): Promise<Invocation>;
  /** ReportBatchItemFailures. */
  partialFailures: boolean;
  /** BisectBatchOnFunctionError. */
  bisect: boolean;
  /** MaximumRetryAttempts; -1: for ever. */
  retries: number;
  /** MaximumRecordAgeInSeconds; -1: for ever. */
  longestSeconds: number;
  /** The batch is given up. */
  discard(batch: StreamBatch, condition: 'RetryAttemptsExhausted' | 'RecordAgeExceeded'): Promise<void>;
}

const firstPause = 50;
const longestPause = 2_000;

/**
 * Delivers a batch as Lambda does: what stands before the first reported failure is done; the rest is tried again, cut
 * in half first where that is allowed (which costs no retry), and given up after the retries. Ends early, with the
 * batch undone, once `going` says no.
 */
export async function deliverBatch(batch: StreamBatch, delivery: StreamDelivery, going: () => boolean): Promise<void> {
  let { records, attempts } = batch;
  while (records.length > 0 && going()) {
    const aged = ageInSeconds(records[0]) > delivery.longestSeconds && delivery.longestSeconds >= 0;
    if (aged) return delivery.discard({ ...batch, records, attempts }, 'RecordAgeExceeded');
    const invocation = await delivery.invoke({ ...batch, records, attempts });
    if (invocation.status !== 'throttled') attempts += 1;
    const done = invocation.status === 'throttled' ? 0 : doneOf(invocation, records, delivery.partialFailures);
    if (done > 0) attempts = batch.attempts;
    records = records.slice(done);
    if (records.length === 0 || invocation.status === 'throttled') {
      await pause(records.length === 0 ? 0 : firstPause);
      continue;
    }
    if (delivery.bisect && done === 0 && records.length > 1) {
      const half = Math.ceil(records.length / 2);
      await deliverBatch({ ...batch, records: records.slice(0, half) }, delivery, going);
      records = records.slice(half);
      attempts = batch.attempts;
      continue;
    }
    if (delivery.retries >= 0 && attempts > delivery.retries)
      return delivery.discard({ ...batch, records, attempts }, 'RetryAttemptsExhausted');
    await pause(Math.min(longestPause, firstPause * 2 ** attempts));
  }
}

/** How many records, from the first, are done. */
function doneOf(invocation: Invocation, records: readonly StreamRecord[], partialFailures: boolean): number {
  if (invocation.status !== 'returned') return 0;
  const failures = partialFailures ? failuresIn(JSON.parse(invocation.payload)) : [];
  if (failures.length === 0) return records.length;
  const positions = failures.map((failure) =>
    records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === failure),
  );
  // An identifier that is none of the batch's fails all of it.
  return Math.max(0, Math.min(...positions));
}

function failuresIn(result: unknown): unknown[] {
  if (typeof result !== 'object' || result === null || !('batchItemFailures' in result)) return [];
  const { batchItemFailures } = result;
  if (!Array.isArray(batchItemFailures)) return batchItemFailures === null ? [] : ['malformed'];
  return batchItemFailures.map((failure: { itemIdentifier?: unknown } | null) => failure?.itemIdentifier);
}

const ageInSeconds = (record: StreamRecord | undefined): number =>
  (Date.now() - (record?.dynamodb?.ApproximateCreationDateTime?.getTime() ?? Date.now())) / 1000;
