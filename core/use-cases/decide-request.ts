import * as z from 'zod';
import type { Action } from '../action.ts';
import { checkBody } from '../check-body.ts';
import { decide, type VoteCommand } from '../decision.ts';
import { judgeAgain } from '../evaluation.ts';
import { digest, jsonObject, jsonValue } from '../fields.ts';
import { isBlank } from '../invisible.ts';
import type { Policies, StoredRequest } from '../ports.ts';
import { requireScope } from '../principal.ts';
import { reservedAfterEdit } from '../reservation.ts';
import { requireVisible } from '../visibility.ts';
import { type Acting, type ChangePorts, changeRequest } from './change-request.ts';
import { readWindowsOf } from './room-for.ts';

const note = z.string().optional();

/** `POST /v1/requests/{id}/decision`. */
const decisionBody = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('approve'), argsDigest: digest, note }),
  z.strictObject({
    decision: z.literal('reject'),
    argsDigest: digest.optional(),
    note: z.string().refine((text) => !isBlank(text), 'is needed to reject, and blanks are none'),
  }),
  z.strictObject({
    decision: z.literal('edit'),
    argsDigest: digest,
    note,
    editedArgs: jsonObject,
    actionName: z.string().optional(),
  }),
  z.strictObject({ decision: z.literal('respond'), argsDigest: digest, note, response: jsonValue }),
]);

const allowed = ['decision', 'argsDigest', 'note', 'editedArgs (edit)', 'actionName (edit)', 'response (respond)'];

/**
 * One approver's vote; the answer is the request after it. Of any number of deciders at once exactly one decides. Throws what
 * `decide` throws, `NOT_FOUND` for what the person may not see, `VALIDATION_FAILED`, `TOO_MANY_REQUESTS`.
 */
export async function decideRequest(
  ports: ChangePorts & { policies: Policies },
  { requestId, body, principal, until }: Acting,
): Promise<StoredRequest> {
  requireScope(principal, 'decide');
  const command: VoteCommand = checkBody(decisionBody, body, allowed);
  const { store, policies, world } = ports;
  return changeRequest(
    ports,
    { requestId, actor: { kind: 'person', id: principal.id }, until },
    async (request, now) => {
      const { state } = request;
      requireVisible(state, principal);
      // Only an edit runs rules again: those that the request was asked under.
      const mission =
        command.decision === 'edit' ? await policies.find(state.missionId, state.policy.version) : undefined;
      const { windows, counters } = await readWindowsOf(store, mission, state);
      let edited: Action | undefined;
      const judge = (action: Action) => {
        edited = action;
        return judgeAgain(request, action, mission, now, counters);
      };
      const step = decide(request, command, { voter: principal, now, salt: world.randomId(), judge });
      return edited ? reservedAfterEdit(step, state, windows, counters, { action: edited, now }) : step;
    },
  );
}
