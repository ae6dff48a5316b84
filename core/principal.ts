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
  [principal.id, ...principal.aliases].some((alias) => alias.trim().toLowerCase() === name.trim().toLowerCase());
