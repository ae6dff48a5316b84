import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { CountersignError } from '../../core/errors.ts';
import { log, traceOf } from '../log.ts';
import type { Claims } from './identity.ts';
import { internalProblem, problemOf } from './problem.ts';

/** Behind a route with the JWT authorizer, and behind one without. */
export type ApiEvent = APIGatewayProxyEventV2 & { requestContext: { authorizer?: { jwt?: { claims: Claims } } } };

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export const ok = (body: unknown): Answer => ({ status: 200, body });

export type Handler = (event: ApiEvent, until: number) => Promise<Answer>;

/**
 * A function behind the HTTP API: one handler per route key (`POST /v1/requests`). Every error becomes a problem document
 * here and nowhere else; the handlers only parse, call a use case, and answer.
 */
export function api(handlers: Readonly<Record<string, Handler>>) {
  return async (event: ApiEvent, context: Context): Promise<APIGatewayProxyStructuredResultV2> => {
    const handler = Object.hasOwn(handlers, event.routeKey) ? handlers[event.routeKey] : undefined;
    const answer = await answerOf(handler, event, context);
    return {
      statusCode: answer.status,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...answer.headers },
      body: JSON.stringify(answer.body),
    };
  };
}

async function answerOf(handler: Handler | undefined, event: ApiEvent, context: Context): Promise<Answer> {
  try {
    if (handler === undefined) throw new CountersignError('NOT_FOUND', 'There is no such route.');
    return await handler(event, callersTime(context));
  } catch (error) {
    if (error instanceof CountersignError) return problemOf(error);
    log('error', 'unexpected error', { requestId: context.awsRequestId, route: event.routeKey, ...traceOf(error) });
    return internalProblem(context.awsRequestId);
  }
}

const longestMilliseconds = 20_000;
const toAnswerMilliseconds = 1_500;

/** Until when (epoch milliseconds) a function may go on: what it has left, less the time to answer. */
export const functionsTime = (context: Pick<Context, 'getRemainingTimeInMillis'>): number =>
  Date.now() + context.getRemainingTimeInMillis() - toAnswerMilliseconds;

/** As {@link functionsTime}, but nobody is kept waiting for longer than 20 seconds. */
export const callersTime = (context: Pick<Context, 'getRemainingTimeInMillis'>): number =>
  Math.min(Date.now() + longestMilliseconds, functionsTime(context));

/** A parameter of the path. The route key names it, so it is there. */
export const pathParameter = (event: ApiEvent, name: 'requestId' | 'runId' | 'missionId' | 'precedentId'): string =>
  event.pathParameters?.[name] ?? '';

export const claimsOf = (event: ApiEvent): Claims | undefined => event.requestContext.authorizer?.jwt?.claims;
