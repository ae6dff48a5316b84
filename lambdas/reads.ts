import { api, claimsOf, ok, pathParameter } from '../adapters/http/api.ts';
import { principalFrom } from '../adapters/http/identity.ts';
import { listRequests } from '../core/use-cases/list-requests.ts';
import { readAudit } from '../core/use-cases/read-audit.ts';
import { verifyRun } from '../core/use-cases/verify-run.ts';
import { deploymentVersion, readingPorts, tokenNames } from './composition.ts';

const names = tokenNames();
const ports = readingPorts();
const version = deploymentVersion();

/** What answers at once and changes nothing. */
export const handler = api({
  'GET /v1/requests': async (event) => {
    const principal = principalFrom(claimsOf(event), names);
    return ok(await listRequests(ports, { principal, query: event.queryStringParameters ?? {} }));
  },

  'GET /v1/runs/{runId}/audit': async (event) =>
    ok(await readAudit(ports, { ...event.queryStringParameters, runId: pathParameter(event, 'runId') })),

  'GET /v1/runs/{runId}/audit/verification': async (event) =>
    ok(await verifyRun(ports, { runId: pathParameter(event, 'runId') })),

  'GET /v1/health': async () => ok({ status: 'ok', version }),
});
