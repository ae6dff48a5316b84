import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { strangeHost } from './loopback-only.ts';

/** A port that is taken before it is known what will answer there, so that nobody else gets it meanwhile. */
export interface Listening {
  port: number;
  /** `http://localhost:<port>`: browsers keep Secure cookies for this name. */
  url: string;
  /** What came before waits. */
  answerWith(listener: RequestListener): void;
  close(): Promise<void>;
}

/** The first free one of `ports` on the loopback interface, for callers of this machine; 0 is any. Rejects where none is free. */
export async function listenOn(ports: readonly number[]): Promise<Listening> {
  for (const port of ports) {
    const listening = await tryPort(port);
    if (listening) return listening;
  }
  throw new Error(`none of the ports ${ports.join(', ')} is free`);
}

async function tryPort(port: number): Promise<Listening | undefined> {
  let ready: (listener: RequestListener) => void = () => {};
  const listener = new Promise<RequestListener>((resolve) => {
    ready = resolve;
  });
  // API Gateway's limit for the request line and all headers.
  const server = createServer({ maxHeaderSize: 10_240 }, (request, response) => {
    const refusal = strangeHost(request);
    if (refusal)
      response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify({ message: refusal }));
    else void listener.then((listen) => listen(request, response));
  });
  if (!(await bound(server, port))) return undefined;
  const taken = (server.address() as AddressInfo).port;
  return {
    port: taken,
    url: `http://localhost:${taken}`,
    answerWith: ready,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function bound(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
}
