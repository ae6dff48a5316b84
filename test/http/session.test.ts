import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import type { Configuration } from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReadSession, sessionReader } from '../../adapters/oidc/session.ts';

const issuer = 'https://issuer.example/pool';
const settings = {
  issuer,
  audience: ['countersign', 'web'],
  nameClaim: 'username',
  rolesClaim: 'cognito:groups',
  scopePrefix: 'countersign/',
};
const claims = {
  iss: issuer,
  sub: 'alice',
  aud: 'countersign',
  scope: 'countersign/decide',
  'cognito:groups': ['a b', 'c'],
};

const keys = await generateKeyPair('RS256');
const otherKeys = await generateKeyPair('RS256');
let server: Server;
let read: ReadSession;

beforeAll(async () => {
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' };
  server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const jwks_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  read = sessionReader(settings, async () => ({ serverMetadata: () => ({ issuer, jwks_uri }) }) as Configuration);
});
afterAll(() => server.close());

const signed = (changes: JWTPayload, { key = keys.privateKey, alg = 'RS256', expires = '1h' } = {}): Promise<string> =>
  new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg, kid: 'k' }).setExpirationTime(expires).sign(key);

test('a session is the issuer’s own access token', async () => {
  expect(await read(await signed({}))).toEqual({ id: 'alice', aliases: [], roles: ['c'], scopes: ['decide'] });
});

test('as Cognito makes them: without an audience, the client stands for it', async () => {
  expect((await read(await signed({ aud: undefined, client_id: 'web' })))?.id).toBe('alice');
  expect(await read(await signed({ aud: undefined, client_id: 'other' }))).toBeUndefined();
  expect(await read(await signed({ aud: 'other', client_id: 'web' }))).toBeUndefined();
  expect(await read(await signed({ aud: undefined }))).toBeUndefined();
});

test('the pages name people as the API does', async () => {
  const principal = await read(await signed({ sub: '93b4', username: 'alice' }));
  expect(principal).toMatchObject({ id: 'alice', aliases: ['93b4'] });
});

test('case 53: another issuer, audience, key, no scope, expired or unsigned is nobody', async () => {
  const refused: Record<string, string> = {
    issuer: await signed({ iss: 'https://evil.example' }),
    audience: await signed({ aud: ['other'] }),
    key: await signed({}, { key: otherKeys.privateKey }),
    scope: await signed({ scope: 'countersign/request openid' }),
    nobody: await signed({ sub: undefined }),
    expired: await signed({}, { expires: '-1s' }),
    endless: await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(keys.privateKey),
    unsigned: new UnsecuredJWT(claims).setExpirationTime('1h').encode(),
    symmetric: await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: 'k' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode('k'.repeat(32))),
    nonsense: 'x.y.z',
  };
  for (const [why, token] of Object.entries(refused)) expect([why, await read(token)]).toEqual([why, undefined]);
});
