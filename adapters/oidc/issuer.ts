import { allowInsecureRequests, type Configuration, discovery, None } from 'openid-client';

/** Plain http is for an issuer on this very machine, so that the local service needs no certificate. */
const onThisMachine = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

/** What the issuer says of itself, asked for once per process; a failure is not kept. The pages are a public client: PKCE, no secret. */
export function issuerAt(issuer: string, clientId: string): () => Promise<Configuration> {
  let known: Promise<Configuration> | undefined;
  return () => {
    known ??= discover(issuer, clientId).catch((error) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}

function discover(issuer: string, clientId: string): Promise<Configuration> {
  const server = new URL(issuer);
  const execute = onThisMachine(server) ? [allowInsecureRequests] : [];
  return discovery(server, clientId, undefined, None(), { execute, timeout: 5 });
}
