import { createServer, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiGatewayEvent } from '../../local/api-event.ts';
import type { ApiRoute } from '../../local/api-routes.ts';
import type { PlayedFunction } from '../../local/functions.ts';
import { playHttpApi } from '../../local/http-api.ts';
import { type Listening, listenOn } from '../../local/listening.ts';
import { smallFunction } from './service-bundles.ts';

const functions: Record<string, PlayedFunction> = {
  echo: smallFunction('exports.handler = async (event) => event;'),
  answers: smallFunction(`exports.handler = async ({ rawPath, queryStringParameters: { how } }) => {
    if (how === 'cookies') return { statusCode: 204, cookies: ['a=1; Path=/', 'b=2'], headers: { 'X-One': 1 } };
    if (how === 'bytes') return { statusCode: 200, body: 'AP8=', isBase64Encoded: true, headers: { 'content-type': 'image/png' } };
    if (how === 'plain') return { statusCode: 200, body: 'text' };
    if (how === 'malformed') return { statusCode: 'much' };
    if (how === 'large') return { statusCode: 200, body: 'x'.repeat(6300000) };
    throw new Error('broken');
  };`),
  slow: smallFunction('exports.handler = () => new Promise((resolve) => setTimeout(() => resolve({}), 400));', {
    reservedConcurrency: 1,
  }),
  hanging: smallFunction('exports.handler = () => new Promise(() => { setInterval(() => {}, 1000); });', {
    timeoutSeconds: 0.5,
  }),
};

const route = (routeKey: string, functionId = 'echo', integrationMilliseconds = 30_000): ApiRoute => ({
  routeKey,
  functionId,
  integrationMilliseconds,
  scopes: [],
});

const routes = [
  route('GET /things/{id}'),
  route('GET /things/{rest+}'),
  route('GET /things/special'),
  route('ANY /things/special'),
  route('POST /things'),
  route('GET /things'),
  route('GET /answers', 'answers'),
  route('GET /slow', 'slow'),
  route('GET /late', 'slow', 100),
  route('GET /hanging', 'hanging'),
];

let api: Listening;
beforeAll(async () => {
  api = await listenOn([0]);
  const invoke = (id: string, event: unknown) => functions[id]?.invoke(event) ?? Promise.reject(new Error(id));
  api.answerWith(playHttpApi({ accountId: '000000000000', apiId: 'Api', routes, invoke }));
});
afterAll(async () => {
  await api.close();
  await Promise.all(Object.values(functions).map((one) => one.close()));
});

const get = (path: string, init?: RequestInit) => fetch(api.url + path, init);
const eventOf = async (path: string, init?: RequestInit) => (await (await get(path, init)).json()) as ApiGatewayEvent;

describe('matching', () => {
  test.each([
    ['GET', '/things/special', 'GET /things/special'],
    ['PUT', '/things/special', 'ANY /things/special'],
    ['GET', '/things/7', 'GET /things/{id}'],
    ['GET', '/things/7/parts/8', 'GET /things/{rest+}'],
  ])('%s %s is %s', async (method, path, routeKey) => {
    expect((await eventOf(path, { method })).routeKey).toBe(routeKey);
  });

  test.each([
    ['GET', '/'],
    ['GET', '/nothing'],
    ['DELETE', '/things'],
    ['POST', '/things/7'],
    ['GET', '/answers/'],
  ])('%s %s is Amazon’s 404', async (method, path) => {
    const answer = await get(path, { method });
    expect([answer.status, await answer.text()]).toEqual([404, '{"message":"Not Found"}']);
  });

  test('HEAD on a route for GET is 404', async () => {
    expect((await get('/things', { method: 'HEAD' })).status).toBe(404);
  });

  test('parameters are decoded, a slash in one does not split it', async () => {
    expect((await eventOf('/things/a%2Fb%20c')).pathParameters).toEqual({ id: 'a/b c' });
    expect((await eventOf('/things/a/b')).pathParameters).toEqual({ rest: 'a/b' });
  });
});

describe('the event, payload format 2.0', () => {
  test('query, headers and cookies as API Gateway joins them', async () => {
    const event = await new Promise<ApiGatewayEvent>((resolve, reject) => {
      const headers = { 'X-Many': ['one', 'two'], Cookie: 'a=1; b=2' };
      httpRequest(`${api.url}/things?q=1&q=2&r=a%20b&empty=`, { headers }, async (answer) => {
        let text = '';
        for await (const chunk of answer) text += chunk;
        resolve(JSON.parse(text));
      })
        .on('error', reject)
        .end();
    });
    expect(event).toMatchObject({
      version: '2.0',
      rawPath: '/things',
      rawQueryString: 'q=1&q=2&r=a%20b&empty=',
      queryStringParameters: { q: '1,2', r: 'a b', empty: '' },
      cookies: ['a=1', 'b=2'],
      headers: { 'x-many': 'one,two' },
      isBase64Encoded: false,
      requestContext: { http: { method: 'GET', path: '/things' }, stage: '$default', apiId: 'Api' },
    });
    expect(event.headers).not.toHaveProperty('cookie');
    expect(event).not.toHaveProperty('body');
    expect(event).not.toHaveProperty('pathParameters');
    expect(event.requestContext).not.toHaveProperty('authorizer');
  });

  test.each([
    ['application/json', '{"a":"ü"}', false],
    ['text/plain; charset=utf-8', 'hello', false],
    ['application/x-www-form-urlencoded', 'a=1', true],
    ['application/octet-stream', 'raw', true],
  ])('a body of %s', async (contentType, body, isBase64Encoded) => {
    const event = await eventOf('/things', { method: 'POST', body, headers: { 'content-type': contentType } });
    expect(event.isBase64Encoded).toBe(isBase64Encoded);
    expect(Buffer.from(event.body ?? '', isBase64Encoded ? 'base64' : 'utf8').toString()).toBe(body);
  });

  test('bytes that are no UTF-8 arrive unchanged, whatever they call themselves', async () => {
    const body = Buffer.from([0x22, 0xff, 0x22]);
    const event = await eventOf('/things', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    expect([event.isBase64Encoded, event.body]).toEqual([true, body.toString('base64')]);
  });
});

describe('answers', () => {
  test('each cookie is a header of its own', async () => {
    const answer = await get('/answers?how=cookies');
    expect(answer.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
    expect([answer.status, answer.headers.get('x-one')]).toEqual([204, '1']);
  });

  test('bytes, and a text without a type', async () => {
    const bytes = await get('/answers?how=bytes');
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255]);
    expect((await get('/answers?how=plain')).headers.get('content-type')).toBe('text/plain;charset=utf-8');
  });

  test.each(['throw', 'malformed', 'large'])('what is wrong with the function (%s) is Amazon’s 500', async (how) => {
    const answer = await get(`/answers?how=${how}`);
    expect([answer.status, await answer.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
  });

  test('a function out of time, an integration out of time and a throttled function are 503', async () => {
    const unavailable = [503, '{"message":"Service Unavailable"}'];
    const [first, throttled] = await Promise.all([get('/slow'), get('/slow')]);
    expect([first.status, throttled.status].sort()).toEqual([200, 503]);
    for (const path of ['/late', '/hanging']) {
      const answer = await get(path);
      expect([answer.status, await answer.text()]).toEqual(unavailable);
    }
  });

  test('10 MB, and an event over 6 MB, are 413', async () => {
    const post = async (size: number) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await get('/things', { method: 'POST', body: 'x'.repeat(size), headers });
      return [answer.status, size < 1_000_000 ? '' : await answer.text()];
    };
    const tooLarge = [413, '{"message":"Request Entity Too Large"}'];
    expect(await post(11_000_000)).toEqual(tooLarge);
    expect(await post(6_500_000)).toEqual(tooLarge);
    expect((await post(100_000))[0]).toBe(200);
  });
});

test('a port that is taken is passed over', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const listening = await listenOn([port, 0]);
  expect(listening.port).not.toBe(port);
  await expect(listenOn([port])).rejects.toThrow(`none of the ports ${port} is free`);
  await listening.close();
  other.close();
});
