import { generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiRoute, readRoutes } from '../../local/api-routes.ts';
import { audience, rolesClaim } from '../../local/identities.ts';
import type { MeterSnapshot } from '../../local/meter.ts';
import { email, Front, newRun } from './harness.ts';

let front: Front;
let requestId: string;
let runId: string;
let forgers: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
beforeAll(async () => {
  front = await Front.start({ deployment: { sweepMinutes: 60 } });
  runId = newRun();
  requestId = (await front.ask(email({ runId }))).body.requestId;
  await front.messages(requestId, 3);
  forgers = (await generateKeyPair('RS256')).privateKey;
});
afterAll(() => front.stop());

const now = () => Math.floor(Date.now() / 1000);
const everyScope = ['request', 'decide', 'audit', 'policies'].map((scope) => `countersign/${scope}`).join(' ');

/** Somebody who may do everything, but for `changes`. */
const claims = (changes: JWTPayload = {}): JWTPayload => ({
  iss: front.urls.issuer,
  sub: 'mallory',
  aud: audience,
  iat: now() - 60,
  exp: now() + 3600,
  scope: everyScope,
  [rolesClaim]: ['support_agent'],
  ...changes,
});
const signed = (changes?: JWTPayload) => front.service.signToken(claims(changes));
const withoutSignature = (token: string) => token.replace(/[^.]*$/, '');

/** Each with what API Gateway answers; signed by the issuer's own key unless the name says otherwise. */
const wrong: readonly [name: string, status: 401 | 403, make: () => string | undefined | Promise<string>][] = [
  ['no token', 401, () => undefined],
  ['alg none', 401, () => new UnsecuredJWT(claims()).encode()],
  ['its signature cut off', 401, async () => withoutSignature(await signed())],
  ['another key', 401, () => new SignJWT(claims()).setProtectedHeader({ alg: 'RS256' }).sign(forgers)],
  ['a shared secret', 401, () => new SignJWT(claims()).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32))],
  ['another audience', 401, () => signed({ aud: 'somebody-else' })],
  ['no audience and another client', 401, () => signed({ aud: undefined, client_id: 'somebody-else' })],
  ['another issuer', 401, () => signed({ iss: 'https://issuer.example' })],
  ['an end that has come', 401, () => signed({ exp: now() - 60 })],
  ['no end', 401, () => signed({ exp: undefined })],
  ['no scope', 403, () => signed({ scope: undefined })],
  ['scopes without our prefix', 403, () => signed({ scope: 'request decide audit' })],
  ['a scope that no route takes', 403, () => signed({ scope: 'countersign/another' })],
];

const guarded = () => readRoutes(front.service.template).filter(({ authorizer }) => authorizer !== undefined);
const open = () => readRoutes(front.service.template).filter(({ authorizer }) => authorizer === undefined);

function call({ routeKey }: ApiRoute, token: string | undefined) {
  const [method = '', path = ''] = routeKey.split(' ');
  const filled = path.replace('{requestId}', requestId).replace('{runId}', runId);
  return front.call(method, filled, token === undefined ? {} : { token }, method === 'POST' ? {} : undefined);
}

/** What the functions behind the API have asked of AWS. */
async function functionsThatCalled(): Promise<string[]> {
  const { functions }: MeterSnapshot = await front.meter();
  return Object.keys(functions).filter((name) => name !== 'dispatch' && name !== 'sweep');
}

test.each(wrong)('case 53: with %s every route answers %i, and no function runs', async (_, status, make) => {
  const token = await make();
  await front.zeroMeter();
  for (const route of guarded())
    expect([route.routeKey, (await call(route, token)).status]).toEqual([route.routeKey, status]);
  expect(await functionsThatCalled()).toEqual([]);
});

test('case 53: the same token, signed and complete, is let in everywhere: the checks above can fail', async () => {
  expect(guarded().length).toBeGreaterThanOrEqual(10);
  const token = await signed();
  for (const route of guarded()) {
    const { status, headers } = await call(route, token);
    expect([route.routeKey, status]).not.toEqual([route.routeKey, 401]);
    if (status === 403) expect(headers.get('content-type'), route.routeKey).toBe('application/problem+json');
  }
});

test('case 53: each route takes only its own scopes', async () => {
  for (const route of guarded()) {
    const others = everyScope.split(' ').filter((scope) => !route.scopes.includes(scope));
    const { status } = await call(route, await signed({ scope: others.join(' ') }));
    expect([route.routeKey, status]).toEqual([route.routeKey, 403]);
  }
});

describe('case 53: the pages, which API Gateway leaves open', () => {
  const asked = (path: string, token: string | undefined, form?: Record<string, string>) =>
    fetch(front.urls.apiUrl + path, {
      redirect: 'manual',
      method: form ? 'POST' : 'GET',
      headers: {
        ...(token === undefined ? {} : { cookie: `__Host-countersign=${token}` }),
        'sec-fetch-site': 'same-origin',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { body: new URLSearchParams(form) }),
    });

  test.each(wrong)('show nothing and take nothing with %s in the cookie', async (_, _status, make) => {
    const token = await make();
    await front.zeroMeter();
    for (const path of ['/', `/r/${requestId}`]) {
      const answer = await asked(path, token);
      expect([path, answer.status, answer.headers.get('location')?.startsWith('/sign-in')]).toEqual([path, 303, true]);
      expect(await answer.text()).not.toContain('send_customer_email');
    }
    for (const act of ['decision', 'revocation'])
      expect((await asked(`/r/${requestId}/${act}`, token, { decision: 'reject', note: 'no' })).status).toBe(401);
    expect(await functionsThatCalled()).toEqual([]);
  });

  test('show the request to somebody signed in: the checks above can fail', async () => {
    const answer = await asked(`/r/${requestId}`, await signed());
    expect([answer.status, (await answer.text()).includes('send_customer_email')]).toEqual([200, true]);
  });

  test('are all that is open, with health', () => {
    expect(
      open()
        .map(({ routeKey }) => routeKey)
        .filter((key) => key.includes('/v1/')),
    ).toEqual(['GET /v1/health']);
  });
});
