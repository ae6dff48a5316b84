import * as z from 'zod';
import { checkBody } from '../check-body.ts';
import { claim, effectiveArgs } from '../claim.ts';
import { jsonObject, name, plainId, requiredText } from '../fields.ts';
import type { Instant } from '../instant.ts';
import type { JsonObject } from '../json.ts';
import { maySet, precedentOf } from '../novelty.ts';
import type { PrecedentStore, StoredRequest } from '../ports.ts';
import type { Step } from '../step.ts';
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
  ports: ChangePorts & { store: PrecedentStore },
  { requestId, body, principal, until }: Acting,
): Promise<{ claimId: string; effectiveArgs: JsonObject }> {
  const { claimId, ...action } = checkBody(claimBody, body, Object.keys(claimBody.shape));
  const newClaimId = ports.world.randomId();
  const request = await changeRequest(
    ports,
    { requestId, actor: { kind: 'agent', id: principal.id }, until },
    async (found, now) => {
      requireOwn(found.state, principal);
      const step = claim(found, { action, claimId }, { claimant: principal.id, now, newClaimId });
      return withPrecedent(ports.store, found, step, now);
    },
  );
  const used = request.state.status === 'APPROVED' ? request.state.claim : undefined;
  if (!used) throw new Error(`request ${requestId} was claimed and holds no claim`);
  return { claimId: used.claimId, effectiveArgs: effectiveArgs(request) };
}

/** The use of what a person approved makes it known: the next one like it is not novel. */
async function withPrecedent(store: PrecedentStore, request: StoredRequest, step: Step, now: Instant): Promise<Step> {
  if (step.kind !== 'change' || step.event.type !== 'approval_claimed') return step;
  const precedent = precedentOf(request, now);
  if (!precedent) return step;
  const before = await store.readPrecedent(precedent);
  if (!maySet(precedent, before)) return step;
  const details = { ...step.event.details, precedentId: precedent.precedentId };
  return {
    ...step,
    event: { type: 'approval_claimed', details },
    moves: [{ kind: 'precedent', precedent, ...(before && { before }) }],
  };
}
