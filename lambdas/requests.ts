import { api, claimsOf, ok, pathParameter } from '../adapters/http/api.ts';
import { principalFrom } from '../adapters/http/identity.ts';
import { jsonBody, jsonBodyOrNone } from '../adapters/http/json.ts';
import { viewOf } from '../core/request-view.ts';
import { cancelRequest } from '../core/use-cases/cancel-request.ts';
import { claimRequest } from '../core/use-cases/claim-request.ts';
import { createRequest } from '../core/use-cases/create-request.ts';
import { reportOutcome } from '../core/use-cases/report-outcome.ts';
import { askingPorts, tokenNames } from './composition.ts';

const names = tokenNames();
const ports = askingPorts();

/** What agents write. */
export const handler = api({
  'POST /v1/requests': async (event, until) => {
    const principal = principalFrom(claimsOf(event), names);
    const idempotencyKey = event.headers['idempotency-key'];
    const { created, request } = await createRequest(ports, {
      body: jsonBody(event),
      idempotencyKey,
      principal,
      until,
    });
    return { status: created ? 201 : 200, body: viewOf(request, principal) };
  },

  'POST /v1/requests/{requestId}/cancellation': async (event, until) => {
    const principal = principalFrom(claimsOf(event), names);
    const requestId = pathParameter(event, 'requestId');
    return ok(
      viewOf(await cancelRequest(ports, { requestId, body: jsonBodyOrNone(event), principal, until }), principal),
    );
  },

  'POST /v1/requests/{requestId}/claim': async (event, until) => {
    const principal = principalFrom(claimsOf(event), names);
    return ok(
      await claimRequest(ports, {
        requestId: pathParameter(event, 'requestId'),
        body: jsonBody(event),
        principal,
        until,
      }),
    );
  },

  'POST /v1/requests/{requestId}/outcome': async (event, until) => {
    const principal = principalFrom(claimsOf(event), names);
    const requestId = pathParameter(event, 'requestId');
    return ok(viewOf(await reportOutcome(ports, { requestId, body: jsonBody(event), principal, until }), principal));
  },
});
