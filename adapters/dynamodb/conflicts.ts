import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';

/**
 * What a refused or failed write means.
 * - `conflict`: a condition did not hold and nothing was written now; `winner` is the hash of the entry that stands in our
 *   place, `retried` says that the SDK had tried before, so that it may be our own.
 * - `revisesFailed`: only the revised request is not there, or not the requester's.
 * - `busy`: nothing was written, another try may succeed.
 * - `unclear`: it may have been written.
 */
export type Refusal =
  | { kind: 'conflict'; winner?: string; retried: boolean }
  | { kind: 'revisesFailed' }
  | { kind: 'busy' }
  | { kind: 'unclear' };

/** What each item of the transaction is for, in its order. */
export type Purpose = 'entry' | 'state' | 'content' | 'awaits' | 'move' | 'revises';

const busy = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'LimitExceededException',
]);
const busyReasons = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** The errors of the SDK end here. What another try cannot mend (a missing grant, a malformed call) is thrown as it came. */
export function refusalOf(error: unknown, purposes: readonly Purpose[] = []): Refusal {
  if (error instanceof ConditionalCheckFailedException) return { kind: 'conflict', retried: wasRetried(error) };
  if (error instanceof TransactionCanceledException) return cancellation(error, purposes);
  if (!(error instanceof Error)) throw error;
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  if (busy.has(error.name) || status === 429) return { kind: 'busy' };
  if (status !== undefined && status >= 400 && status < 500) throw error;
  if (status !== undefined || lostOnTheWay(error)) return { kind: 'unclear' };
  throw error;
}

function cancellation(error: TransactionCanceledException, purposes: readonly Purpose[]): Refusal {
  const reasons = error.CancellationReasons ?? [];
  const failed = purposes.filter((_, index) => reasons[index]?.Code === 'ConditionalCheckFailed');
  if (failed.some((purpose) => purpose !== 'revises')) {
    const winner = reasons[purposes.indexOf('entry')]?.Item?.hash?.S;
    return { kind: 'conflict', retried: wasRetried(error), ...(winner !== undefined && { winner }) };
  }
  if (failed.length > 0) return { kind: 'revisesFailed' };
  if (reasons.some(({ Code }) => Code !== undefined && busyReasons.has(Code))) return { kind: 'busy' };
  throw error;
}

const wasRetried = (error: { $metadata: { attempts?: number } }): boolean => (error.$metadata.attempts ?? 1) > 1;

/** Timeouts, our own patience, broken sockets. */
function lostOnTheWay(error: Error): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return (
    error.name === 'TimeoutError' ||
    error.name === 'AbortError' ||
    '$response' in error ||
    (typeof code === 'string' && /^E[A-Z_]+$/.test(code) && !code.startsWith('ERR_INVALID')) ||
    (cause instanceof Error && lostOnTheWay(cause))
  );
}
