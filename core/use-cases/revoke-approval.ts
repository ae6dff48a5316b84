import * as z from 'zod';
import { checkBody } from '../check-body.ts';
import type { StoredRequest } from '../ports.ts';
import { requireScope } from '../principal.ts';
import { requireVisible } from '../visibility.ts';
import { revoke } from '../withdrawal.ts';
import { type Acting, type ChangePorts, changeRequest } from './change-request.ts';

/** `POST /v1/requests/{id}/revocation`. */
const revocationBody = z.strictObject({ note: z.string().min(1, 'must not be empty').optional() });

/** A person takes an approval back before it is used. Throws what `revoke` throws, `NOT_FOUND`. */
export async function revokeApproval(
  ports: ChangePorts,
  { requestId, body, principal, until }: Acting,
): Promise<StoredRequest> {
  requireScope(principal, 'decide');
  const command = checkBody(revocationBody, body, ['note']);
  return changeRequest(ports, { requestId, actor: { kind: 'person', id: principal.id }, until }, (request, now) => {
    requireVisible(request.state, principal);
    return revoke(request.state, command, { person: principal, now, salt: ports.world.randomId() });
  });
}
