import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Configuration } from 'openid-client';
import type { Principal } from '../../core/principal.ts';
import { principalFrom, type TokenNames } from '../http/identity.ts';

export interface SessionSettings extends TokenNames {
  issuer: string;
  audience: readonly string[];
}

/** Who holds this access token, or `undefined` where it is not (or no longer) one for the pages. */
export type ReadSession = (token: string) => Promise<Principal | undefined>;

/**
 * The session is the access token itself, verified on every request exactly as API Gateway's authorizer does: issuer,
 * expiry, signature by one of the issuer's RSA keys, `aud` among the audiences or, where there is none, `client_id`.
 * Keys are kept for ten minutes and asked for again when a token names an unknown one.
 */
export function sessionReader(settings: SessionSettings, issuer: () => Promise<Configuration>): ReadSession {
  let keys: JWTVerifyGetKey | undefined;
  const keysOf = async (): Promise<JWTVerifyGetKey> => {
    keys ??= createRemoteJWKSet(new URL((await issuer()).serverMetadata().jwks_uri ?? ''));
    return keys;
  };
  return async (token) => {
    try {
      const key = await keysOf();
      const { payload } = await jwtVerify(token, key, {
        issuer: settings.issuer,
        algorithms: ['RS256'],
        requiredClaims: ['exp', 'sub'],
      });
      const meantFor = payload.aud === undefined ? [payload.client_id] : [payload.aud].flat();
      if (!meantFor.some((audience) => settings.audience.includes(String(audience)))) return undefined;
      const principal = principalFrom(payload, settings);
      return principal.scopes.some((scope) => scope === 'decide' || scope === 'audit') ? principal : undefined;
    } catch (error) {
      if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) throw error;
      return undefined;
    }
  };
}
