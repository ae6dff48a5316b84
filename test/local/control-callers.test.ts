import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { playControl } from '../../local/control.ts';
import { createFaults } from '../../local/faults.ts';
import { type Listening, listenOn } from '../../local/listening.ts';
import { createMeter } from '../../local/meter.ts';

let listening: Listening;
const done: string[] = [];

beforeAll(async () => {
  listening = await listenOn([0]);
  const controlled = {
    endpoint: { meter: createMeter(), faults: createFaults([]) },
    functions: ['decisions'],
    invoke: async (name: string) => {
      done.push(name);
      return { status: 'returned' as const, payload: '{}' };
    },
    moveClock: (seconds: number) => void done.push(`clock ${seconds}`),
    enableStream: () => {},
  };
  listening.answerWith(playControl(controlled));
});
afterAll(() => listening.close());

async function call(method: string, path: string, headers: Record<string, string>, body = '') {
  done.length = 0;
  const sent = request(listening.url + path, { method, headers }).end(body);
  const answer = await new Promise<Parameters<typeof text>[0] & { statusCode?: number }>((resolve, reject) =>
    sent.once('response', resolve).once('error', reject),
  );
  return { status: answer.statusCode, said: await text(answer), done: [...done] };
}

const json = { 'content-type': 'application/json' };

test('a program drives the service', async () => {
  expect(await call('POST', '/invoke/decisions', json, '{}')).toMatchObject({ status: 200, done: ['decisions'] });
  expect(await call('POST', '/invoke/decisions', {})).toMatchObject({ status: 200, done: ['decisions'] });
  expect(await call('GET', '/meter', {})).toMatchObject({ status: 200 });
});

test.each<[string, Record<string, string>, number, string]>([
  ['of another origin', { ...json, origin: 'https://evil.example' }, 403, 'https://evil.example may not'],
  ['of another site, without an origin', { ...json, 'sec-fetch-site': 'cross-site' }, 403, 'cross-site'],
  ['of another port of this machine', { ...json, 'sec-fetch-site': 'same-site' }, 403, 'same-site'],
  ['whose name leads here', { ...json, host: 'evil.example' }, 403, 'the host is \\"evil.example\\"'],
  ['that sends a form’s text', { 'content-type': 'text/plain' }, 415, 'text/plain; it may be application/json'],
])('a page %s does not', async (_which, headers, status, words) => {
  const answer = await call('POST', '/invoke/decisions', headers, '{}');
  expect(answer).toEqual({ status, said: expect.stringContaining(words), done: [] });
});

test.each([1e300, -315_360_001, 315_360_001])('the clock does not move by %d seconds', async (offsetSeconds) => {
  const answer = await call('PUT', '/clock', json, JSON.stringify({ offsetSeconds }));
  expect(answer).toEqual({ status: 400, said: expect.stringContaining('from -315360000 to 315360000'), done: [] });
});

test('the clock moves by ten years', async () => {
  expect((await call('PUT', '/clock', json, '{"offsetSeconds":315360000}')).done).toEqual(['clock 315360000']);
});
