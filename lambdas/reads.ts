import * as z from 'zod';
import { api, claimsOf, ok, pathParameter } from '../adapters/http/api.ts';
import { principalFrom } from '../adapters/http/identity.ts';
import { checkBody } from '../core/check-body.ts';
import { listRequests } from '../core/use-cases/list-requests.ts';
import { readAudit } from '../core/use-cases/read-audit.ts';
import { verifyRun } from '../core/use-cases/verify-run.ts';
import { deploymentVersion, readingPorts, tokenNames } from './composition.ts';

const names = tokenNames();
const ports = readingPorts();
const version = deploymentVersion();
const noQuery = z.strictObject({});

/** What answers at once and changes nothing. */
export const handler = api({
  'GET /v1/requests': async (event) => {
    const principal = principalFrom(claimsOf(event), names);
    return ok(await listRequests(ports, { principal, query: event.queryStringParameters ?? {} }));
  },

  'GET /v1/runs/{runId}/audit': async (event) =>
    ok(await readAudit(ports, { runId: pathParameter(event, 'runId'), query: event.queryStringParameters ?? {} })),

  'GET /v1/runs/{runId}/audit/verification': async (event) => {
    checkBody(noQuery, event.queryStringParameters ?? {}, [], 'the query');
    return ok(await verifyRun(ports, { runId: pathParameter(event, 'runId') }));
  },

  'GET /v1/health': async () => ok({ status: 'ok', version }),
});
