import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIdentityProvider, type IdentityProvider } from '../../local/identity-provider.ts';
import { type Listening, listenOn } from '../../local/listening.ts';

let listening: Listening;
let identities: IdentityProvider;
const webUrl = 'http://localhost:1';
beforeAll(async () => {
  listening = await listenOn([0]);
  identities = await createIdentityProvider(listening.url, webUrl);
  listening.answerWith(identities.listener);
});
afterAll(() => listening.close());

const claimsOf = (name: string) => decodeJwt(identities.tokens[name] ?? '');

test('everybody has a ready token for 24 hours, with their roles and scopes', () => {
  const seen = Object.keys(identities.tokens).map((name) => {
    const { sub, scope, exp = 0, iat = 0, aud, iss } = claimsOf(name);
    expect({ sub, aud, iss, seconds: exp - iat }).toEqual({
      sub: name,
      aud: 'countersign',
      iss: listening.url,
      seconds: 86_400,
    });
    return [name, scope, (claimsOf(name)['cognito:groups'] as string[] | undefined)?.join(' ')];
  });
  expect(seen).toEqual([
    ['support-bot', 'countersign/request', undefined],
    ['billing-bot', 'countersign/request', undefined],
    ['alice', 'countersign/decide', 'support_agent support_manager'],
    ['bob', 'countersign/decide', 'support_manager'],
    ['carol', 'countersign/decide', 'senior_manager'],
    ['frank', 'countersign/decide', 'support_agent senior_manager'],
    ['dave', 'countersign/audit', ''],
    ['erin', 'countersign/policies', ''],
  ]);
});

async function agentToken(scope: string): Promise<Response> {
  return fetch(`${listening.url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('support-bot:local')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  });
}

test('an agent gets a token with its secret, and never a scope of people', async () => {
  const { access_token } = (await (await agentToken('countersign/request')).json()) as { access_token: string };
  expect(decodeJwt(access_token)).toMatchObject({
    sub: 'support-bot',
    scope: 'countersign/request',
    aud: 'countersign',
  });
  const other = (await (await agentToken('countersign/decide')).json()) as { access_token: string };
  expect(decodeJwt(other.access_token).scope).toBeUndefined();
});

/** A browser of few words: keeps cookies, follows nothing by itself. */
function browser() {
  const jar = new Map<string, string>();
  return async (address: string, init: RequestInit = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const url = new URL(address, listening.url);
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';')[0]?.split(/=(.*)/s) ?? [];
      jar.set(name, value);
    }
    return { status: answer.status, location: answer.headers.get('location') ?? '', text: await answer.text() };
  };
}

const verifier = 'v'.repeat(64);
const authorization = `/auth?${new URLSearchParams({
  client_id: 'countersign-web',
  response_type: 'code',
  redirect_uri: `${webUrl}/sign-in/callback`,
  scope: 'openid countersign/decide countersign/audit countersign/policies',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
  state: 'here',
})}`;

async function signIn(visit: ReturnType<typeof browser>, who: string) {
  const { location: choice } = await visit(authorization);
  const page = await visit(choice);
  expect(page.text).toContain('name="who" value="alice"');
  const chosen = await visit(choice, { method: 'POST', body: new URLSearchParams({ who }) });
  if (chosen.status !== 303) return chosen;
  const { location: callback } = await visit(chosen.location);
  expect(callback).toMatch(`${webUrl}/sign-in/callback?code=`);
  const answer = await fetch(`${listening.url}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'countersign-web',
      code: new URL(callback).searchParams.get('code') ?? '',
      redirect_uri: `${webUrl}/sign-in/callback`,
      code_verifier: verifier,
    }),
  });
  return decodeJwt(((await answer.json()) as { access_token: string }).access_token);
}

test('a person chooses who to be, and in the same browser again who else; scopes follow the person', async () => {
  const visit = browser();
  const alice = { sub: 'alice', scope: 'countersign/decide', 'cognito:groups': ['support_agent', 'support_manager'] };
  expect(await signIn(visit, 'alice')).toMatchObject(alice);
  expect(await signIn(visit, 'dave')).toMatchObject({ sub: 'dave', scope: 'countersign/audit' });
});

test('nobody can be somebody who is not there', async () => {
  expect(await signIn(browser(), 'mallory')).toMatchObject({ status: 400, text: expect.stringContaining('mallory') });
});
