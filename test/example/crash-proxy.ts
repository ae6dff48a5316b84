import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Where a process ends: at the `nth` call whose method and path match, before it arrives or before its answer does. */
export interface CrashPoint {
  call: RegExp;
  nth: number;
  when: 'before it arrives' | 'before its answer';
}

/** Stands in front of the service's API, passes every call on, and has the caller ended at the crash point. */
export async function crashProxy(apiUrl: string, { call, nth, when }: CrashPoint, end: () => void) {
  let seen = 0;
  const server = createServer(async (request, response) => {
    const crash = call.test(`${request.method} ${request.url}`) && ++seen === nth;
    if (crash && when === 'before it arrives') return end();
    const answer = await passOn(apiUrl, request);
    const body = await answer.text();
    if (crash) return end();
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const kept = ['authorization', 'content-type', 'idempotency-key'];

async function passOn(apiUrl: string, request: IncomingMessage): Promise<Response> {
  const headers = kept.flatMap((name) => {
    const value = request.headers[name];
    return typeof value === 'string' ? [[name, value] as [string, string]] : [];
  });
  const body = await buffer(request);
  return fetch(`${apiUrl}${request.url}`, {
    method: request.method ?? 'GET',
    headers,
    ...(body.length > 0 && { body }),
  });
}
