import { api, claimsOf, ok, pathParameter } from '../adapters/http/api.ts';
import { principalFrom } from '../adapters/http/identity.ts';
import { jsonBody } from '../adapters/http/json.ts';
import { viewOf } from '../core/request-view.ts';
import { listPrecedents } from '../core/use-cases/list-precedents.ts';
import { publishPolicy } from '../core/use-cases/publish-policy.ts';
import { readPolicy } from '../core/use-cases/read-policy.ts';
import { revokePrecedent } from '../core/use-cases/revoke-precedent.ts';
import { simulateRequest } from '../core/use-cases/simulate-request.ts';
import { requestPorts, tokenNames } from './composition.ts';

const names = tokenNames();
const ports = requestPorts();

/** What the owners of missions write and try, and everybody may read. */
export const handler = api({
  'GET /v1/policies/{missionId}': async (event) =>
    ok(
      await readPolicy(ports, {
        missionId: pathParameter(event, 'missionId'),
        query: event.queryStringParameters ?? {},
      }),
    ),

  'PUT /v1/policies/{missionId}': async (event, until) => {
    const principal = principalFrom(claimsOf(event), names);
    const missionId = pathParameter(event, 'missionId');
    const result = await publishPolicy(ports, { missionId, body: jsonBody(event), principal, until });
    return 'publication' in result ? ok(result.publication) : { status: 202, body: viewOf(result.approval, principal) };
  },

  'POST /v1/policies/{missionId}/simulation': async (event) => {
    const principal = principalFrom(claimsOf(event), names);
    const missionId = pathParameter(event, 'missionId');
    return ok(await simulateRequest(ports, { missionId, body: jsonBody(event), principal }));
  },

  'GET /v1/policies/{missionId}/precedents': async (event) =>
    ok(
      await listPrecedents(ports, {
        missionId: pathParameter(event, 'missionId'),
        principal: principalFrom(claimsOf(event), names),
        query: event.queryStringParameters ?? {},
      }),
    ),

  'POST /v1/policies/{missionId}/precedents/{precedentId}/revocation': async (event, until) =>
    ok(
      await revokePrecedent(ports, {
        missionId: pathParameter(event, 'missionId'),
        precedentId: pathParameter(event, 'precedentId'),
        body: jsonBody(event),
        principal: principalFrom(claimsOf(event), names),
        until,
      }),
    ),
});
