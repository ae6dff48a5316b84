import { api, claimsOf, ok, pathParameter } from '../adapters/http/api.ts';
import { principalFrom } from '../adapters/http/identity.ts';
import { jsonBody, jsonBodyOrNone } from '../adapters/http/json.ts';
import { viewOf } from '../core/request-view.ts';
import { decideRequest } from '../core/use-cases/decide-request.ts';
import { reevaluateRequest } from '../core/use-cases/reevaluate-request.ts';
import { revokeApproval } from '../core/use-cases/revoke-approval.ts';
import { requestPorts, tokenNames } from './composition.ts';

const names = tokenNames();
const ports = requestPorts();

/** What people write. */
export const handler = api({
  'POST /v1/requests/{requestId}/decision': async (event, until) => {
    const principal = principalFrom(claimsOf(event), names);
    const requestId = pathParameter(event, 'requestId');
    return ok(viewOf(await decideRequest(ports, { requestId, body: jsonBody(event), principal, until }), principal));
  },

  'POST /v1/requests/{requestId}/reevaluation': async (event, until) => {
    const principal = principalFrom(claimsOf(event), names);
    const requestId = pathParameter(event, 'requestId');
    return ok(
      viewOf(await reevaluateRequest(ports, { requestId, body: jsonBodyOrNone(event), principal, until }), principal),
    );
  },

  'POST /v1/requests/{requestId}/revocation': async (event, until) => {
    const principal = principalFrom(claimsOf(event), names);
    const requestId = pathParameter(event, 'requestId');
    return ok(
      viewOf(await revokeApproval(ports, { requestId, body: jsonBodyOrNone(event), principal, until }), principal),
    );
  },
});
