import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2WithRequestContext as Event } from 'aws-lambda';
import { decoded, type RouteMatch } from './api-routes.ts';
import type { Authorization } from './jwt-authorizer.ts';

interface Received {
  request: IncomingMessage;
  body: Buffer;
  match: RouteMatch;
  jwt: Extract<Authorization, { status: 'allowed' }>['jwt'];
  accountId: string;
  apiId: string;
}

export type ApiGatewayEvent = Event<Record<string, unknown>>;

/** The request as API Gateway tells it to a function: payload format 2.0. */
export function eventOf({ request, body, match, jwt, accountId, apiId }: Received): ApiGatewayEvent {
  const { path, rawQueryString } = targetOf(request);
  const headers = headersOf(request);
  const { cookie, ...others } = headers;
  const asText = isText(headers['content-type'] ?? '') && isUtf8(body);
  const now = new Date();
  const domainName = request.headers.host ?? 'localhost';
  return {
    version: '2.0',
    routeKey: match.route.routeKey,
    rawPath: decoded(path),
    rawQueryString,
    ...(cookie === undefined ? {} : { cookies: cookie.split(/; */).filter((one) => one !== '') }),
    headers: {
      ...others,
      'x-forwarded-for': [headers['x-forwarded-for'], request.socket.remoteAddress].filter(Boolean).join(','),
      'x-forwarded-proto': 'http',
      'x-forwarded-port': String(request.socket.localPort),
    },
    ...(rawQueryString === '' ? {} : { queryStringParameters: queryOf(rawQueryString) }),
    ...(Object.keys(match.pathParameters).length === 0 ? {} : { pathParameters: match.pathParameters }),
    ...(body.length === 0 ? {} : { body: body.toString(asText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !asText,
    requestContext: {
      accountId,
      apiId,
      domainName,
      domainPrefix: domainName.split('.')[0] ?? '',
      ...(jwt ? { authorizer: { jwt } } : {}),
      http: {
        method: request.method ?? 'GET',
        path: decoded(path),
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        userAgent: request.headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: match.route.routeKey,
      stage: '$default',
      time: logTime(now),
      timeEpoch: now.getTime(),
    },
  };
}

export function targetOf(request: IncomingMessage): { path: string; rawQueryString: string } {
  const [path = '/', ...query] = (request.url ?? '/').split('?');
  return { path, rawQueryString: query.join('?') };
}

/** Names in lower case; a header that came several times is joined by commas, cookies by semicolons. */
function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values = []]) => [
      name,
      values.join(name === 'cookie' ? '; ' : ','),
    ]),
  );
}

/** What API Gateway hands on as text; anything else (a form, too) comes in base64. */
function isText(contentType: string): boolean {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  return type.startsWith('text/') || /^application\/(json|xml|javascript|[a-z0-9.-]+\+(json|xml))$/.test(type);
}

function queryOf(rawQueryString: string): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(joined);
}

/** `30/Nov/2026:14:20:00 +0000`. */
function logTime(now: Date): string {
  const [, day, month, year, time] = now.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}

/** What a function's result means as an HTTP answer; `undefined` where API Gateway would call it malformed. */
export interface ApiAnswer {
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

export function answerOf(payload: string): ApiAnswer | undefined {
  const result: unknown = JSON.parse(payload);
  if (typeof result !== 'object' || result === null || Array.isArray(result) || !('statusCode' in result))
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(payload) };
  const { statusCode, headers = {}, cookies, body = '', isBase64Encoded } = result as Record<string, unknown>;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) return undefined;
  if (typeof body !== 'string' || typeof headers !== 'object' || headers === null) return undefined;
  const plain = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return {
    status,
    headers: {
      'content-type': 'text/plain;charset=utf-8',
      ...Object.fromEntries(plain),
      ...(Array.isArray(cookies) ? { 'set-cookie': cookies.map(String) } : {}),
    },
    body: Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}
