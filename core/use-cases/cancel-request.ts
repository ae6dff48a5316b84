import * as z from 'zod';
import { checkBody } from '../check-body.ts';
import type { StoredRequest } from '../ports.ts';
import { requireOwn } from '../visibility.ts';
import { cancel } from '../withdrawal.ts';
import { type Acting, type ChangePorts, changeRequest } from './change-request.ts';

/** `POST /v1/requests/{id}/cancellation`: nothing to say but that it is over. */
const cancellationBody = z.strictObject({});

/** The requester no longer needs its question. Throws `NOT_FOUND`, `ALREADY_DECIDED`. */
export async function cancelRequest(
  ports: ChangePorts,
  { requestId, body, principal, until }: Acting,
): Promise<StoredRequest> {
  checkBody(cancellationBody, body, []);
  return changeRequest(ports, { requestId, actor: { kind: 'agent', id: principal.id }, until }, (request, now) => {
    requireOwn(request.state, principal);
    return cancel(request.state, { now });
  });
}
