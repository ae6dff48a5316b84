import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiRoute } from '../../local/api-routes.ts';
import { createJwtAuthorizer } from '../../local/jwt-authorizer.ts';

/** An issuer that says what a test wants it to say. */
let server: Server;
let issuer: string;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let route: ApiRoute;

beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  server = createServer((request, response) => {
    const discovery = { issuer, jwks_uri: `${issuer}/keys` };
    response.end(JSON.stringify(request.url === '/keys' ? { keys: [jwk] } : discovery));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  route = {
    routeKey: 'POST /v1/requests',
    functionId: 'requests',
    integrationMilliseconds: 30_000,
    authorizer: { issuer, audience: ['countersign'] },
    scopes: ['countersign/request'],
  };
});
afterAll(() => server.close());

const seconds = () => Math.floor(Date.now() / 1000);
const claims = (changes: JWTPayload = {}): JWTPayload => ({
  iss: issuer,
  sub: 'support-bot',
  aud: 'countersign',
  iat: seconds(),
  exp: seconds() + 60,
  scope: 'countersign/request other',
  'cognito:groups': ['a', 'b'],
  ...changes,
});
const sign = (payload: JWTPayload, { alg = 'RS256', kid = 'one', key = keys.privateKey } = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(key);
const statusOf = async (header?: string) => (await createJwtAuthorizer().authorize(route, header)).status;

test('a good token is let in, its claims as the strings that API Gateway makes of them', async () => {
  const now = claims();
  expect(await createJwtAuthorizer().authorize(route, `Bearer ${await sign(now)}`)).toEqual({
    status: 'allowed',
    jwt: {
      claims: {
        iss: issuer,
        sub: 'support-bot',
        aud: 'countersign',
        iat: String(now.iat),
        exp: String(now.exp),
        scope: 'countersign/request other',
        'cognito:groups': '[a b]',
      },
      scopes: ['countersign/request', 'other'],
    },
  });
});

test('a Cognito access token has client_id in place of aud', async () => {
  expect(await statusOf(`bearer ${await sign(claims({ aud: undefined, client_id: 'countersign' }))}`)).toBe('allowed');
  expect(await statusOf(`Bearer ${await sign(claims({ aud: undefined, client_id: 'other' }))}`)).toBe('unauthorized');
  expect(await statusOf(`Bearer ${await sign(claims({ aud: 'other', client_id: 'countersign' }))}`)).toBe(
    'unauthorized',
  );
});

describe('CASE 53: refused as Amazon does', () => {
  test('no token, or no token at all in it', async () => {
    for (const header of [undefined, '', 'Bearer', 'Bearer nonsense', 'Basic YTpi'])
      expect(await statusOf(header)).toBe('unauthorized');
  });

  test('alg none', async () => {
    expect(await statusOf(`Bearer ${new UnsecuredJWT(claims()).encode()}`)).toBe('unauthorized');
  });

  test('HS256 over the public key', async () => {
    const { n = '' } = await exportJWK(keys.publicKey);
    const key = new TextEncoder().encode(n) as never;
    expect(await statusOf(`Bearer ${await sign(claims(), { alg: 'HS256', key })}`)).toBe('unauthorized');
  });

  test('another key under the same name', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    expect(await statusOf(`Bearer ${await sign(claims(), { key: privateKey })}`)).toBe('unauthorized');
  });

  test.each([
    ['another audience', () => ({ aud: 'somebody-else' })],
    ['another issuer', () => ({ iss: 'http://127.0.0.1:1' })],
    ['expired', () => ({ exp: seconds() - 1 })],
    ['without an end', () => ({ exp: undefined })],
    ['not yet valid', () => ({ nbf: seconds() + 60 })],
    ['issued in the future', () => ({ iat: seconds() + 60 })],
  ])('%s', async (_what, changes) => {
    expect(await statusOf(`Bearer ${await sign(claims(changes()))}`)).toBe('unauthorized');
  });

  test.each([
    ['without scope', { scope: undefined }],
    ['with another scope', { scope: 'countersign/decide' }],
    ['with a longer scope', { scope: 'countersign/request2' }],
  ])('%s: 403', async (_what, changes) => {
    expect(await statusOf(`Bearer ${await sign(claims(changes))}`)).toBe('forbidden');
  });
});
