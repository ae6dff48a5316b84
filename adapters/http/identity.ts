import { CountersignError } from '../../core/errors.ts';
import type { Principal, Scope } from '../../core/principal.ts';

/** How this deployment's tokens say what they say. */
export interface TokenNames {
  /** What a caller is called; `sub` where a token lacks it, as an agent's own token does at Cognito. */
  nameClaim: string;
  rolesClaim: string;
  scopePrefix: string;
}

/** Claims as a verified token holds them, or as API Gateway hands them on: there everything is a string, a list is `[a b]`. */
export type Claims = Readonly<Record<string, unknown>>;

/** Other names of the same person. They can only take a right away (to approve what one asked for oneself), so none needs to be verified. */
const aliasClaims = ['sub', 'username', 'cognito:username', 'preferred_username', 'email', 'client_id', 'azp'] as const;
const scopes: readonly Scope[] = ['request', 'decide', 'audit', 'policies'];
const roleName = /^[A-Za-z0-9_.-]+$/;

/** Who calls, from claims that somebody verified. Throws `UNAUTHENTICATED` where there are none, or they name nobody. */
export function principalFrom(claims: Claims | undefined, names: TokenNames): Principal {
  if (claims === undefined || !isName(claims.sub))
    throw new CountersignError('UNAUTHENTICATED', 'A bearer token that names its subject is needed.');
  const named = claims[names.nameClaim];
  const id = isName(named) ? named : claims.sub;
  const granted = new Set(listOf(claims.scope ?? claims.scp));
  return {
    id,
    aliases: aliasClaims
      .map((claim) => claims[claim])
      .filter(isName)
      .filter((alias) => alias !== id),
    roles: [...new Set(listOf(claims[names.rolesClaim]))].filter((role) => roleName.test(role)),
    scopes: scopes.filter((scope) => granted.has(names.scopePrefix + scope)),
  };
}

const isName = (claim: unknown): claim is string => typeof claim === 'string' && claim !== '';

/** Names that hold anything but the allowed characters are dropped later, so nothing can be smuggled in between brackets. */
function listOf(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((item) => typeof item === 'string');
  if (typeof claim !== 'string') return [];
  const list = claim.startsWith('[') && claim.endsWith(']') ? claim.slice(1, -1) : claim;
  return list.split(/\s+/).filter((item) => item !== '');
}
