import * as z from 'zod';
import { checkBody } from '../check-body.ts';
import { CountersignError } from '../errors.ts';
import { isPlainId } from '../fields.ts';
import type { JsonValue } from '../json.ts';
import type { PrecedentStore, RequestStore, World } from '../ports.ts';
import { isPrecedentId, type Precedent } from '../precedent.ts';
import { type Principal, requireScope } from '../principal.ts';
import { revokePrecedentOf } from '../withdrawal.ts';
import { changeRequest } from './change-request.ts';

/** `POST /v1/policies/{missionId}/precedents/{precedentId}/revocation`. */
const precedentRevocationBody = z.strictObject({ reason: z.string().trim().min(1, 'is needed').max(2000) });

interface Revoking {
  missionId: string;
  precedentId: string;
  body: JsonValue;
  principal: Principal;
  until: number;
}

/**
 * From here on the action is novel again. What was allowed because of it stays allowed. The reason is in the audit, in the run of
 * the request that set it. One that is revoked already answers as it stands. Throws `NOT_FOUND`, `NOT_AN_APPROVER`,
 * `VALIDATION_FAILED`.
 */
export async function revokePrecedent(
  ports: { store: RequestStore & PrecedentStore; world: World },
  { missionId, precedentId, body, principal, until }: Revoking,
): Promise<Precedent> {
  requireScope(principal, 'decide');
  const { reason } = checkBody(precedentRevocationBody, body, ['reason']);
  const { store, world } = ports;
  const find = async (): Promise<Precedent> => {
    const known = isPlainId(missionId) && isPrecedentId(precedentId);
    const precedent = known ? await store.readPrecedent({ missionId, precedentId }) : undefined;
    if (precedent) return precedent;
    throw new CountersignError(
      'NOT_FOUND',
      `The mission ${JSON.stringify(missionId.slice(0, 128))} has no such precedent.`,
    );
  };
  const { requestId } = await find();
  await changeRequest(
    ports,
    { requestId, actor: { kind: 'person', id: principal.id }, until },
    async ({ state }, now) =>
      revokePrecedentOf(state, await find(), { reason }, { person: principal, now, salt: world.randomId() }),
  );
  return find();
}
