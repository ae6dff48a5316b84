import * as z from 'zod';
import { checkBody } from '../check-body.ts';
import { effectiveArgs } from '../claim.ts';
import { judgeAgain } from '../evaluation.ts';
import type { Policies, PolicyStore, StoredRequest } from '../ports.ts';
import { requireScope } from '../principal.ts';
import { versionText } from '../published-policy.ts';
import { reevaluate } from '../reevaluation.ts';
import { same } from '../step.ts';
import { requireVisible } from '../visibility.ts';
import { type Acting, type ChangePorts, changeRequest } from './change-request.ts';
import { readWindowsOf } from './room-for.ts';

/** `POST /v1/requests/{id}/reevaluation`. */
const reevaluationBody = z.strictObject({});

/**
 * Runs the newest version's rules on a request that waits; it can become stricter and nothing else. Where that version cannot
 * be read the request stays as it is. Throws what `reevaluate` throws, `NOT_FOUND`.
 */
export async function reevaluateRequest(
  ports: ChangePorts & { store: PolicyStore; policies: Policies },
  { requestId, body, principal, until }: Acting,
): Promise<StoredRequest> {
  requireScope(principal, 'decide');
  checkBody(reevaluationBody, body, ['no field at all']);
  const { store, policies } = ports;
  return changeRequest(
    ports,
    { requestId, actor: { kind: 'person', id: principal.id }, until },
    async (request, now) => {
      const { state } = request;
      requireVisible(state, principal);
      const head = await store.readHead(state.missionId);
      const newest = head ? versionText(head.newest) : policies.deployed.version;
      const mission = await policies.find(state.missionId, newest);
      if (!mission) return same;
      const { actionName, phase } = state;
      const action = { actionName, phase, actionArgs: effectiveArgs(request) };
      const { counters } = await readWindowsOf(store, mission, state);
      return reevaluate(state, judgeAgain(request, action, mission, now, counters), mission, now);
    },
  );
}
