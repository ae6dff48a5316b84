import { createRemoteJWKSet, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { ApiRoute } from './api-routes.ts';

/** `undefined` claims: the route needs no token. */
export type Authorization =
  | { status: 'allowed'; jwt?: { claims: Record<string, string>; scopes: string[] | null } }
  | { status: 'unauthorized' }
  | { status: 'forbidden' };

export interface JwtAuthorizer {
  authorize(route: ApiRoute, authorizationHeader: string | undefined): Promise<Authorization>;
}

/** As the HTTP API's own JWT authorizer: RSA signatures by the issuer's published keys, real time, scopes of the route. */
export function createJwtAuthorizer(): JwtAuthorizer {
  const keySets = new Map<string, Promise<JWTVerifyGetKey>>();

  function keysOf(issuer: string): Promise<JWTVerifyGetKey> {
    const known = keySets.get(issuer);
    if (known) return known;
    const discovered = discoverKeys(issuer);
    keySets.set(issuer, discovered);
    discovered.catch(() => keySets.delete(issuer));
    return discovered;
  }

  async function verify(token: string, { issuer, audience }: NonNullable<ApiRoute['authorizer']>): Promise<JWTPayload> {
    const options = { issuer, algorithms: ['RS256'], requiredClaims: ['exp'] };
    const { payload } = await jwtVerify(token, await keysOf(issuer), options);
    const meantFor = payload.aud === undefined ? [payload.client_id] : [payload.aud].flat();
    if (!meantFor.some((one) => typeof one === 'string' && audience.includes(one)))
      throw new Error(`the token is for ${meantFor.join(' ')}, not for ${audience.join(' ')}`);
    if (payload.iat !== undefined && payload.iat > Date.now() / 1000 + 1) throw new Error('issued in the future');
    return payload;
  }

  return {
    async authorize(route, header) {
      if (!route.authorizer) return { status: 'allowed' };
      const token = header?.replace(/^bearer +/i, '').trim();
      if (!token) return { status: 'unauthorized' };
      let payload: JWTPayload;
      try {
        payload = await verify(token, route.authorizer);
      } catch {
        return { status: 'unauthorized' };
      }
      const scopes = scopesOf(payload);
      if (route.scopes.length > 0 && !route.scopes.some((scope) => scopes.includes(scope)))
        return { status: 'forbidden' };
      return {
        status: 'allowed',
        jwt: { claims: asStrings(payload), scopes: route.scopes.length > 0 ? scopes : null },
      };
    },
  };
}

async function discoverKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { jwks_uri } = (await answer.json()) as { jwks_uri: string };
  return createRemoteJWKSet(new URL(jwks_uri));
}

function scopesOf(payload: JWTPayload): string[] {
  const claim = payload.scope ?? payload.scp;
  if (Array.isArray(claim)) return claim.filter((scope) => typeof scope === 'string');
  return typeof claim === 'string' ? claim.split(' ').filter((scope) => scope !== '') : [];
}

/** API Gateway hands every claim on as a string; a list as `[a b]`. */
function asStrings(payload: JWTPayload): Record<string, string> {
  return Object.fromEntries(
    Object.entries(payload).map(([name, claim]) => [
      name,
      Array.isArray(claim) ? `[${claim.join(' ')}]` : textOf(claim),
    ]),
  );
}

const textOf = (claim: unknown): string =>
  typeof claim === 'object' && claim !== null ? JSON.stringify(claim) : String(claim);
