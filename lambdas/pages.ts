import type { Context as LambdaContext } from 'aws-lambda';
import { handle } from 'hono/aws-lambda';
import { callersTime } from '../adapters/http/api.ts';
import { problems } from '../adapters/http/problem.ts';
import { log, traceOf } from '../adapters/log.ts';
import { pages } from '../web/app.ts';
import { identityProvider, pagesSettings, requestPorts } from './composition.ts';

const app = pages({
  ...pagesSettings(),
  ...identityProvider(),
  ports: requestPorts(),
  problems,
  until: ({ env }) => callersTime(lambdaContext(env)),
  report: (error, { env, req }) => {
    const reference = lambdaContext(env).awsRequestId;
    log('error', 'unexpected error', { requestId: reference, route: req.routePath, ...traceOf(error) });
    return reference;
  },
});

const lambdaContext = (env: { lambdaContext: LambdaContext }): LambdaContext => env.lambdaContext;

/** The approvers' pages. */
export const handler = handle(app);
