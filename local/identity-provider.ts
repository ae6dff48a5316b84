import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { type Client, type Context, interactionPolicy, Provider } from 'oidc-provider';
import { agentSecret, agents, audience, people, rolesClaim, scopePrefix, webClientId } from './identities.ts';
import { choicePage, failurePage } from './sign-in-page.ts';

export interface IdentityProvider {
  listener: RequestListener;
  /** A ready access token for every identity, by name; good for 24 hours. */
  tokens: Readonly<Record<string, string>>;
  /** Signs any claims with the provider's key. */
  sign(claims: JWTPayload): Promise<string>;
}

const tokenSeconds = 24 * 60 * 60;
/** The resource whose tokens are JWTs; clients need not name it. */
const resource = 'urn:countersign';
const agentScope = `${scopePrefix}request`;
const personScopes = ['decide', 'audit', 'policies'].map((scope) => scopePrefix + scope).join(' ');
const resourceServer = {
  audience,
  accessTokenFormat: 'jwt',
  accessTokenTTL: tokenSeconds,
  jwt: { sign: { alg: 'RS256' } },
};

const scopesOf = (name: string | undefined): string =>
  (people.find((person) => person.name === name)?.scopes ?? []).map((scope) => scopePrefix + scope).join(' ');

/**
 * An OpenID Connect provider in which everybody may be anybody: people choose who they are, agents have the client secret
 * `local`. The keys are made at each start.
 */
export async function createIdentityProvider(issuer: string, webUrl: string): Promise<IdentityProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: randomUUID(), use: 'sig', alg: 'RS256' };
  const provider = withoutNotices(() => new Provider(issuer, configuration(webUrl, key)));
  provider.on('server_error', (_context, error) => process.stderr.write(`identity provider: ${error.stack}\n`));
  const answer = provider.callback();
  return {
    tokens: await readyTokens(provider),
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg: key.alg, kid: key.kid }).sign(privateKey),
    listener: (request, response) => {
      forgetSession(request);
      if (!request.url?.startsWith('/interaction/')) answer(request, response);
      else chooseIdentity(provider, request, response, webUrl).catch((error) => refuse(response, error));
    },
  };
}

/** Whoever signs in chooses again, also where a session is open: that is how one changes from alice to bob. */
function forgetSession({ headers }: IncomingMessage): void {
  if (headers.cookie === undefined) return;
  const kept = headers.cookie.split(';').filter((cookie) => !cookie.trim().startsWith('_session'));
  headers.cookie = kept.join(';');
}

function configuration(webUrl: string, key: object): object {
  const policy = interactionPolicy.base();
  policy.remove('consent');
  return {
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    clients: [
      {
        client_id: webClientId,
        token_endpoint_auth_method: 'none',
        redirect_uris: [`${webUrl}/sign-in/callback`],
        post_logout_redirect_uris: [`${webUrl}/`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
      ...agents.map((agent) => ({
        client_id: agent,
        client_secret: agentSecret,
        redirect_uris: [],
        grant_types: ['client_credentials'],
        response_types: [],
      })),
    ],
    scopes: ['openid', 'profile', 'email'],
    claims: { openid: ['sub'], profile: ['name', 'preferred_username', rolesClaim], email: ['email'] },
    findAccount: (_context: Context, name: string) => account(name),
    loadExistingGrant: grant,
    extraTokenClaims: (_context: Context | undefined, token: { accountId?: string }) => tokenClaims(token.accountId),
    interactions: { policy, url: (_context: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo: (_context: Context, _resource: string, { clientId }: Client) => ({
          ...resourceServer,
          scope: clientId === webClientId ? personScopes : agentScope,
        }),
        useGrantedResource: () => true,
      },
    },
    ttl: {
      AccessToken: tokenSeconds,
      ClientCredentials: tokenSeconds,
      IdToken: tokenSeconds,
      Interaction: 3600,
      Session: tokenSeconds,
      Grant: tokenSeconds,
    },
    pkce: { required: () => true },
  };
}

function account(name: string) {
  const person = people.find((one) => one.name === name);
  if (!person) return undefined;
  const { email, roles } = person;
  const claims = { sub: name, name, preferred_username: name, email, [rolesClaim]: roles };
  return { accountId: name, claims: () => claims };
}

function tokenClaims(name: string | undefined) {
  const person = people.find((one) => one.name === name);
  return person && { username: person.name, email: person.email, [rolesClaim]: person.roles };
}

/** Everybody gets the scopes that they have, whatever was asked for. */
async function grant({ oidc }: Context) {
  const accountId = oidc.session.accountId ?? '';
  const granted = new oidc.provider.Grant({ accountId, clientId: oidc.client.clientId });
  granted.addOIDCScope('openid profile email');
  granted.addResourceScope(resource, scopesOf(accountId));
  await granted.save();
  return granted;
}

async function readyTokens(provider: Provider): Promise<Record<string, string>> {
  const server = new provider.ResourceServer(resource, resourceServer);
  const clientOf = async (id: string) => {
    const client = await provider.Client.find(id);
    if (!client) throw new Error(`the identity provider has no client ${id}`);
    return client;
  };
  const tokens: Record<string, string> = {};
  for (const agent of agents) {
    const fields = { client: await clientOf(agent), resourceServer: server, scope: agentScope };
    tokens[agent] = await new provider.ClientCredentials({ ...fields, expiresIn: tokenSeconds }).save();
  }
  for (const { name } of people) {
    const fields = { client: await clientOf(webClientId), resourceServer: server, scope: scopesOf(name) };
    const grantId = randomUUID();
    const person = { accountId: name, grantId, gty: 'authorization_code', expiresIn: tokenSeconds };
    tokens[name] = await new provider.AccessToken({ ...fields, ...person }).save();
  }
  return tokens;
}

async function chooseIdentity(provider: Provider, request: IncomingMessage, response: ServerResponse, webUrl: string) {
  const { uid } = await provider.interactionDetails(request, response);
  if (request.method === 'GET') {
    show(response, 200, await choicePage(uid, people), `form-action 'self' ${webUrl}`);
    return;
  }
  let body = '';
  for await (const chunk of request) body += chunk;
  const who = new URLSearchParams(body).get('who') ?? '';
  if (!people.some(({ name }) => name === who)) throw new Error(`"${who}" is nobody here`);
  await provider.interactionFinished(request, response, { login: { accountId: who } });
}

const refuse = async (response: ServerResponse, error: unknown) =>
  show(response, 400, await failurePage(error instanceof Error ? error.message : String(error)), "form-action 'none'");

function show(response: ServerResponse, status: number, page: string, formAction: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; ${formAction}`,
    })
    .end(page);
}

/** oidc-provider tells on the console what an operator of a real one should mind; here nobody can. */
function withoutNotices<Result>(make: () => Result): Result {
  const { info, warn } = console;
  console.info = console.warn = () => {};
  try {
    return make();
  } finally {
    Object.assign(console, { info, warn });
  }
}
