import * as z from 'zod';
import { api, claimsOf, ok, pathParameter } from '../adapters/http/api.ts';
import { principalFrom } from '../adapters/http/identity.ts';
import { checkBody } from '../core/check-body.ts';
import { viewOf } from '../core/request-view.ts';
import { waitForDecision } from '../core/use-cases/wait-for-decision.ts';
import { tokenNames, waitingPorts } from './composition.ts';

const names = tokenNames();
const ports = waitingPorts();

const seconds = z
  .string()
  .regex(/^([1-9]|1\d|20)$/, 'a whole number from 1 to 20')
  .transform(Number);
const waitQuery = z.strictObject({ wait: seconds.default(0) });

/** One request, at once or as soon as it is decided. */
export const handler = api({
  'GET /v1/requests/{requestId}': async (event, until) => {
    const principal = principalFrom(claimsOf(event), names);
    const requestId = pathParameter(event, 'requestId');
    const { wait } = checkBody(waitQuery, event.queryStringParameters ?? {}, ['wait'], 'the query');
    return ok(viewOf(await waitForDecision(ports, { requestId, principal, seconds: wait, until }), principal));
  },
});
