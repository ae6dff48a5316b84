import * as z from 'zod';
import { checkBody } from '../check-body.ts';
import { settle } from '../claim.ts';
import { jsonValue, plainId } from '../fields.ts';
import type { StoredRequest } from '../ports.ts';
import { requireOwn } from '../visibility.ts';
import { type Acting, type ChangePorts, changeRequest } from './change-request.ts';

/** `POST /v1/requests/{id}/outcome`. */
const outcomeBody = z.strictObject({
  claimId: plainId,
  outcome: z.enum(['succeeded', 'failed', 'unknown']),
  result: jsonValue.optional(),
});

/** What happened when the action ran. Throws `CONFLICT`, `NOT_FOUND`. */
export async function reportOutcome(
  ports: ChangePorts,
  { requestId, body, principal, until }: Acting,
): Promise<StoredRequest> {
  const command = checkBody(outcomeBody, body, Object.keys(outcomeBody.shape));
  return changeRequest(ports, { requestId, actor: { kind: 'agent', id: principal.id }, until }, (request, now) => {
    requireOwn(request.state, principal);
    return settle(request, command, { now, salt: ports.world.randomId() });
  });
}
