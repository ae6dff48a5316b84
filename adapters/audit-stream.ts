import type { DynamoDBBatchItemFailure, DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import * as z from 'zod';
import { count, log, traceOf } from './log.ts';

const storedEntry = z.object({ entry: z.object({ S: z.string() }) });
const canonicalEntry = z.object({ requestId: z.string().min(1).optional() });

/**
 * Calls `attend` with the request of each new audit entry, in the order of the stream. What fails is reported by its own
 * sequence number and stops nobody else; Lambda hands on again from the first of them, so `attend` must stand repetition.
 * An entry that was changed or removed is no work but an alarm: the audit table is append-only.
 */
export async function eachAuditedRequest(
  event: DynamoDBStreamEvent,
  attend: (requestId: string) => Promise<unknown>,
): Promise<DynamoDBBatchResponse> {
  const batchItemFailures: DynamoDBBatchItemFailure[] = [];
  for (const record of event.Records) {
    try {
      if (record.eventName !== 'INSERT') reportTampering(record);
      else await attendTo(record, attend);
    } catch (error) {
      log('error', 'a stream record failed', { sequenceNumber: record.dynamodb?.SequenceNumber, ...traceOf(error) });
      batchItemFailures.push({ itemIdentifier: record.dynamodb?.SequenceNumber ?? '' });
    }
  }
  return { batchItemFailures };
}

async function attendTo(record: DynamoDBRecord, attend: (requestId: string) => Promise<unknown>): Promise<void> {
  const { entry } = storedEntry.parse(record.dynamodb?.NewImage);
  const { requestId } = canonicalEntry.parse(JSON.parse(entry.S));
  if (requestId !== undefined) await attend(requestId);
}

function reportTampering(record: DynamoDBRecord): void {
  count({ UnexpectedAuditRecord: 1 });
  log('error', 'an audit entry was changed or removed', { eventName: record.eventName, key: record.dynamodb?.Keys });
}
