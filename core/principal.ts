import { CountersignError } from './errors.ts';
import { withoutInvisible } from './invisible.ts';

/** Who calls, as the verified token says. Never built from a body. */
export interface Principal {
  /** The name that stands on requests, votes and audit entries. */
  id: string;
  /** Every other name the token gives the same person (user name, e-mail); compared without case to find self-approval. */
  aliases: string[];
  roles: string[];
  scopes: Scope[];
}

export type Scope = 'request' | 'decide' | 'audit' | 'policies';

/** Whether `name` (a requester, or the subject behind one) is this person, under any name that the token gives. */
export const isCalled = (principal: Pick<Principal, 'id' | 'aliases'>, name: string): boolean =>
  [principal.id, ...principal.aliases].some((alias) => spellings(alias).some((one) => spellings(name).includes(one)));

/** A name, and the address in it: `Ann <ann@example.org>` is `ann@example.org` too. */
const spellings = (text: string): string[] => [text, ...(text.match(/(?<=<)[^<>]+(?=>)/g) ?? [])].map(folded);

/** The same for every spelling of a name that means the same person. */
export const folded = (text: string): string =>
  withoutInvisible(text.normalize('NFKC'))
    .trim()
    .toLowerCase()
    .replace(/^mailto:\s*/, '');

/** The API checks scopes before a function runs; the pages have no such guard, so the use cases ask as well. Throws `FORBIDDEN`. */
export function requireScope(principal: Principal, scope: Scope): void {
  if (!principal.scopes.includes(scope))
    throw new CountersignError(
      'FORBIDDEN',
      `This needs the scope ${scope}; the token holds ${principal.scopes.join(', ') || 'none'}.`,
    );
}
