import { Configuration, None } from 'openid-client';
import { expect, test } from 'vitest';
import { signInAt } from '../../adapters/oidc/sign-in.ts';

const issuer = 'https://issuer.example';
const signIn = (audience: string[], scopes_supported?: string[]) =>
  signInAt({ webUrl: 'https://countersign.example', audience, scopePrefix: 'countersign/' }, async () => {
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      ...(scopes_supported && { scopes_supported }),
    };
    return new Configuration(metadata, 'web', undefined, None());
  });

const asked = async (audience: string[], scopes?: string[], again = false) =>
  Object.fromEntries(new URL((await signIn(audience, scopes).begin('/', again)).address).searchParams);

test('the issuer is asked for a code with PKCE, under a state of its own each time', async () => {
  const [one, other] = [await signIn(['web']).begin('/r/1', false), await signIn(['web']).begin('/r/1', false)];
  expect(one.pending.returnTo).toBe('/r/1');
  expect([one.pending.state, one.pending.verifier]).not.toEqual([other.pending.state, other.pending.verifier]);
  expect(Object.fromEntries(new URL(one.address).searchParams)).toEqual({
    client_id: 'web',
    response_type: 'code',
    redirect_uri: 'https://countersign.example/sign-in/callback',
    scope: 'openid countersign/decide',
    state: one.pending.state,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
});

test('audit is asked for only where the issuer knows it, a resource only where the audience is an address', async () => {
  expect(await asked(['web'], ['openid', 'countersign/audit'])).toMatchObject({
    scope: 'openid countersign/decide countersign/audit',
  });
  expect((await asked(['web', 'https://api.example'])).resource).toBe('https://api.example');
  expect(await asked(['web'])).not.toHaveProperty('resource');
  expect((await asked(['web'], [], true)).prompt).toBe('login');
});

test.each([
  ['a person who declined', '?error=access_denied&state=s'],
  ['an answer to another sign-in', '?code=c&state=other'],
  ['an answer without a state', '?code=c'],
  ['nothing', ''],
])('%s is not signed in', async (_what, query) => {
  const finished = signIn(['web']).finish(query, { state: 's', verifier: 'v'.repeat(43), returnTo: '/' });
  await expect(finished).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});
