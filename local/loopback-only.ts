import type { IncomingMessage } from 'node:http';

const loopback = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/**
 * Why a call may not be answered, or `undefined`: a web page whose own name was made to lead to this machine still names
 * itself as the host.
 */
export function strangeHost({ headers }: IncomingMessage): string | undefined {
  const { host = '' } = headers;
  return loopback.test(host) ? undefined : `the host is "${host}"; localhost, 127.0.0.1 and [::1] are answered`;
}

/** Why a call may not be answered, or `undefined`: browsers say so themselves when another site's page makes one. */
export function fromAnotherSite({ headers }: IncomingMessage): string | undefined {
  const site = headers['sec-fetch-site'] ?? 'none';
  if (headers.origin !== undefined)
    return `a page of ${headers.origin} may not call this; programs, without an origin, may`;
  if (site !== 'none' && site !== 'same-origin') return `a ${site} page may not call this`;
  return undefined;
}
