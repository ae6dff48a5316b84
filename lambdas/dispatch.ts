import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { eachAuditedRequest } from '../adapters/audit-stream.ts';
import { dispatchOwed } from '../core/use-cases/dispatch-owed.ts';
import { dispatchingPorts, webUrl } from './composition.ts';

const ports = dispatchingPorts();
const address = webUrl();

/** Woken by each audit entry, which only says which request to look at; what is owed stands on the request. */
export const handler = (event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> =>
  eachAuditedRequest(event, (requestId) => dispatchOwed(ports, { requestId, webUrl: address }));
