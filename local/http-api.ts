import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ApiAnswer, answerOf, eventOf, targetOf } from './api-event.ts';
import { type ApiRoute, matchRoute } from './api-routes.ts';
import type { Invocation } from './functions.ts';
import { createJwtAuthorizer } from './jwt-authorizer.ts';

export interface HttpApi {
  accountId: string;
  apiId: string;
  routes: readonly ApiRoute[];
  invoke(functionId: string, event: unknown): Promise<Invocation>;
}

/** API Gateway's own answers, to the letter. */
const gatewayAnswers = {
  unauthorized: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  notFound: [404, 'Not Found'],
  tooLarge: [413, 'Request Entity Too Large'],
  internal: [500, 'Internal Server Error'],
  unavailable: [503, 'Service Unavailable'],
} as const satisfies Record<string, readonly [number, string]>;

type GatewayAnswer = keyof typeof gatewayAnswers;

const largestBody = 10 * 1024 * 1024;
const largestResult = 6 * 1024 * 1024;

/** Answers requests as the template's HTTP API would, its functions run by `invoke`. */
export function playHttpApi(api: HttpApi): RequestListener {
  const authorizer = createJwtAuthorizer();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (!body) return refuse(response, 'tooLarge');
    const match = matchRoute(api.routes, request.method ?? 'GET', targetOf(request).path);
    if (!match) return refuse(response, 'notFound');
    const authorization = await authorizer.authorize(match.route, request.headers.authorization);
    if (authorization.status !== 'allowed') {
      const insufficient = `scope="${match.route.scopes.join(' ')}" error="insufficient_scope"`;
      response.setHeader(
        'www-authenticate',
        authorization.status === 'forbidden' ? `Bearer ${insufficient}` : 'Bearer',
      );
      return refuse(response, authorization.status);
    }
    const { accountId, apiId } = api;
    const event = eventOf({ request, body, match, jwt: authorization.jwt, accountId, apiId });
    const invocation = await inTime(api.invoke(match.route.functionId, event), match.route.integrationMilliseconds);
    send(response, invocation);
  }

  return (request, response) => {
    response.setHeader('apigw-requestid', randomBytes(11).toString('base64url'));
    answer(request, response).catch((error) => {
      if (request.destroyed && !request.complete) {
        response.destroy();
        return;
      }
      process.stderr.write(`the HTTP API failed: ${error instanceof Error ? error.stack : error}\n`);
      if (response.headersSent) response.destroy();
      else refuse(response, 'internal');
    });
  };
}

function send(response: ServerResponse, invocation: Invocation | 'late'): void {
  const answer = outcomeOf(invocation);
  if (typeof answer === 'string') refuse(response, answer);
  else response.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length }).end(answer.body);
}

function outcomeOf(invocation: Invocation | 'late'): ApiAnswer | GatewayAnswer {
  if (invocation === 'late' || invocation.status === 'throttled') return 'unavailable';
  if (invocation.status === 'too-large') return 'tooLarge';
  if (invocation.status === 'failed') return invocation.reason === 'timeout' ? 'unavailable' : 'internal';
  if (Buffer.byteLength(invocation.payload) > largestResult) return 'internal';
  return answerOf(invocation.payload) ?? 'internal';
}

function refuse(response: ServerResponse, kind: GatewayAnswer): void {
  const [status, message] = gatewayAnswers[kind];
  const body = JSON.stringify({ message });
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body);
}

/** `undefined`: more than 10 MB; the rest is read and dropped, so that the client gets the answer. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= largestBody) chunks.push(chunk);
  }
  return size <= largestBody ? Buffer.concat(chunks) : undefined;
}

function inTime<Result>(work: Promise<Result>, milliseconds: number): Promise<Result | 'late'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve('late'), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
