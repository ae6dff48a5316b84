import type { DynamoDBBatchItemFailure, DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import * as z from 'zod';
import { count, log, traceOf } from '../adapters/log.ts';
import { dispatchOwed } from '../core/use-cases/dispatch-owed.ts';
import { dispatchingPorts, webUrl } from './composition.ts';

const ports = dispatchingPorts();
const address = webUrl();

const storedEntry = z.object({ entry: z.object({ S: z.string() }) });
const canonicalEntry = z.object({ requestId: z.string().min(1).optional() });

/** Woken by each audit entry. The entry only says which request to look at; what is owed stands on the request. */
export async function handler(event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  const batchItemFailures: DynamoDBBatchItemFailure[] = [];
  for (const record of event.Records) {
    try {
      await deliver(record);
    } catch (error) {
      log('error', 'a stream record failed', { sequenceNumber: record.dynamodb?.SequenceNumber, ...traceOf(error) });
      batchItemFailures.push({ itemIdentifier: record.dynamodb?.SequenceNumber ?? '' });
    }
  }
  return { batchItemFailures };
}

async function deliver(record: DynamoDBRecord): Promise<void> {
  if (record.eventName !== 'INSERT') return reportTampering(record);
  const { entry } = storedEntry.parse(record.dynamodb?.NewImage);
  const { requestId } = canonicalEntry.parse(JSON.parse(entry.S));
  if (requestId !== undefined) await dispatchOwed(ports, { requestId, webUrl: address });
}

/** The audit table is append-only: an entry that was changed or removed is an alarm. */
function reportTampering(record: DynamoDBRecord): void {
  count({ UnexpectedAuditRecord: 1 });
  log('error', 'an audit entry was changed or removed', { eventName: record.eventName, key: record.dynamodb?.Keys });
}
