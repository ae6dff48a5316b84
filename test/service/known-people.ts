import { audience, rolesClaim, scopePrefix } from '../../local/identities.ts';
import { Front } from './harness.ts';

/** What the issuer says of somebody. */
export interface Known {
  roles?: string[];
  scopes: ('request' | 'decide' | 'audit' | 'policies')[];
  /** Further claims: `email`, `username`. */
  claims?: Record<string, string>;
}

/** A service whose issuer knows these beside the usual identities, by name. */
export async function startWith(
  known: Readonly<Record<string, Known>>,
  options: Parameters<typeof Front.start>[0] = {},
): Promise<Front> {
  const { service } = await Front.start(options);
  const { issuer, tokens } = service.description;
  const now = Math.floor(Date.now() / 1000);
  const added = Object.entries(known).map(async ([sub, { roles = [], scopes, claims }]) => {
    const about = { iss: issuer, aud: audience, iat: now, exp: now + 3600, [rolesClaim]: roles, ...claims };
    const scope = scopes.map((one) => scopePrefix + one).join(' ');
    return [sub, await service.signToken({ ...about, sub, scope })] as const;
  });
  const all = { ...tokens, ...Object.fromEntries(await Promise.all(added)) };
  return new Front({ ...service, description: { ...service.description, tokens: all } });
}
