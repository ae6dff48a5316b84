/** Who there is in the local service. */
export interface Person {
  name: string;
  email: string;
  telephone?: string;
  roles: readonly string[];
  scopes: readonly ('decide' | 'audit' | 'policies')[];
}

export const people: readonly Person[] = [
  {
    name: 'alice',
    email: 'alice@example.org',
    telephone: '+491701234501',
    roles: ['support_agent', 'support_manager'],
    scopes: ['decide'],
  },
  {
    name: 'bob',
    email: 'bob@example.org',
    telephone: '+491701234502',
    roles: ['support_manager'],
    scopes: ['decide'],
  },
  { name: 'carol', email: 'carol@example.org', roles: ['senior_manager'], scopes: ['decide'] },
  { name: 'frank', email: 'frank@example.org', roles: ['support_agent', 'senior_manager'], scopes: ['decide'] },
  { name: 'dave', email: 'dave@example.org', roles: [], scopes: ['audit'] },
  { name: 'erin', email: 'erin@example.org', roles: [], scopes: ['policies'] },
];

/** Clients at the identity provider, with the scope to request. */
export const agents = ['support-bot', 'billing-bot'] as const;
export const agentSecret = 'local';

export const scopePrefix = 'countersign/';
export const rolesClaim = 'cognito:groups';
/** What the local tokens are meant for. */
export const audience = 'countersign';
export const webClientId = 'countersign-web';

/** The people with roles hear of what waits for them, by e-mail and, with a telephone, by SMS. */
export const subscriptions = people
  .filter(({ roles }) => roles.length > 0)
  .flatMap(({ roles, email, telephone }) => [
    { roles: [...roles], protocol: 'email' as const, endpoint: email },
    ...(telephone === undefined ? [] : [{ roles: [...roles], protocol: 'sms' as const, endpoint: telephone }]),
  ]);
