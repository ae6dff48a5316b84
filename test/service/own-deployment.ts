import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { synthesise } from '../../lib/app.ts';
import { audience, rolesClaim, scopePrefix, webClientId } from '../../local/identities.ts';
import { startService } from '../../local/service.ts';
import { Front } from './harness.ts';

/** Whom a customer's own issuer vouches for. */
export interface Known {
  roles?: string[];
  scopes: string[];
  /** Further claims of the token: `email`, `username`. */
  claims?: Record<string, string>;
}

const root = join(import.meta.dirname, '..', '..');

/**
 * The stack as somebody else would deploy it: with an issuer and people of their own, and `actions` (YAML, indented by two)
 * beside those of the default policy.
 */
export async function startOwnDeployment(known: Readonly<Record<string, Known>>, actions = ''): Promise<Front> {
  const issuer = await startIssuer();
  const folder = mkdtempSync(join(tmpdir(), 'countersign-own-'));
  const release = async () => {
    await issuer.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const policyFile = join(folder, 'policy.yaml');
    writeFileSync(policyFile, `${readFileSync(join(root, 'policies', 'default.yaml'), 'utf8')}${actions}`);
    const cdkOut = join(folder, 'cdk.out');
    const identity = { issuer: issuer.url, audience: [audience], webClientId };
    synthesise({ identity, rolesClaim, scopePrefix, subscriptions: [], policyFile }, cdkOut);
    const service = await startService({ cdkOut });
    const named = Object.entries(known).map(async ([name, who]) => [name, await issuer.tokenOf(name, who)] as const);
    const tokens = Object.fromEntries(await Promise.all(named));
    const stop = () => service.stop().finally(release);
    return new Front({ ...service, description: { ...service.description, tokens }, stop });
  } catch (error) {
    await release();
    throw error;
  }
}

async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const key = { ...(await exportJWK(publicKey)), kid: 'own', use: 'sig', alg: 'RS256' };
  const server = createServer((request, response) => {
    const about = { issuer: url, jwks_uri: `${url}/jwks` };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/jwks' ? { keys: [key] } : about));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    tokenOf: (name: string, { roles = [], scopes, claims = {} }: Known) =>
      new SignJWT({ scope: scopes.map((scope) => scopePrefix + scope).join(' '), [rolesClaim]: roles, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'own' })
        .setSubject(name)
        .setIssuer(url)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
