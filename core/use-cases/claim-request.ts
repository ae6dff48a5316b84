import * as z from 'zod';
import { checkBody } from '../check-body.ts';
import { claim, effectiveArgs } from '../claim.ts';
import { jsonObject, name, plainId, requiredText } from '../fields.ts';
import type { JsonObject } from '../json.ts';
import { requireOwn } from '../visibility.ts';
import { type Acting, type ChangePorts, changeRequest } from './change-request.ts';

/** `POST /v1/requests/{id}/claim`: the action that is about to run, to be compared with what was approved. */
const claimBody = z.strictObject({
  claimId: plainId.optional(),
  actionName: requiredText(512),
  actionArgs: jsonObject,
  sourceAgent: name.optional(),
  targetAgent: name.optional(),
  phase: z.enum(['before', 'after']).default('before'),
});

/** The single use of an approval, just before the action runs. Throws what `claim` throws, `NOT_FOUND`. */
export async function claimRequest(
  ports: ChangePorts,
  { requestId, body, principal, until }: Acting,
): Promise<{ claimId: string; effectiveArgs: JsonObject }> {
  const { claimId, ...action } = checkBody(claimBody, body, Object.keys(claimBody.shape));
  const newClaimId = ports.world.randomId();
  const request = await changeRequest(
    ports,
    { requestId, actor: { kind: 'agent', id: principal.id }, until },
    (found, now) => {
      requireOwn(found.state, principal);
      return claim(found, { action, claimId }, { claimant: principal.id, now, newClaimId });
    },
  );
  const used = request.state.status === 'APPROVED' ? request.state.claim : undefined;
  if (!used) throw new Error(`request ${requestId} was claimed and holds no claim`);
  return { claimId: used.claimId, effectiveArgs: effectiveArgs(request) };
}
