import type { Context } from 'aws-lambda';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ApiEvent, api, ok } from '../../adapters/http/api.ts';
import { problemOf, problems } from '../../adapters/http/problem.ts';
import { CountersignError, type ErrorCode } from '../../core/errors.ts';

const context = { awsRequestId: 'call-1', getRemainingTimeInMillis: () => 29_000 } as Context;
const event = (routeKey: string) => ({ routeKey, headers: {}, requestContext: {} }) as unknown as ApiEvent;

afterEach(() => vi.restoreAllMocks());

const statusOfEach: Record<number, ErrorCode[]> = {
  400: ['VALIDATION_FAILED'],
  401: ['UNAUTHENTICATED'],
  403: ['FORBIDDEN', 'NOT_AN_APPROVER', 'SELF_APPROVAL'],
  404: ['NOT_FOUND'],
  409: ['ALREADY_DECIDED', 'VOTE_CONFLICT', 'ALREADY_CLAIMED', 'NOT_APPROVED', 'DIGEST_MISMATCH', 'CONFLICT'],
  410: ['DEADLINE_PASSED'],
  413: ['PAYLOAD_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE'],
  422: ['IDEMPOTENCY_CONFLICT', 'QUORUM_UNATTAINABLE', 'EDIT_NOT_ALLOWED', 'POLICY_INVALID'],
  429: ['TOO_MANY_REQUESTS'],
};

describe('a problem', () => {
  test('has the status that the contract gives its code, for every code', () => {
    const pairs = Object.entries(statusOfEach).flatMap(([status, codes]) =>
      codes.map((code) => [code, Number(status)]),
    );
    expect(Object.fromEntries(Object.entries(problems).map(([code, { status }]) => [code, status]))).toEqual(
      Object.fromEntries(pairs),
    );
  });

  test('carries its members, and none of them replaces a standard one', () => {
    const error = new CountersignError('ALREADY_DECIDED', 'Too late.', {
      status: 'REJECTED',
      code: 'x',
      decision: { word: 'reject' },
    });
    expect(problemOf(error).body).toMatchObject({
      type: 'urn:countersign:problem:already-decided',
      status: 409,
      code: 'ALREADY_DECIDED',
      detail: 'Too late.',
      decision: { word: 'reject' },
    });
  });

  test('says when to come back where there was too much at once', () => {
    expect(problemOf(new CountersignError('TOO_MANY_REQUESTS', 'Busy.')).headers['retry-after']).toBe('1');
    expect(problemOf(new CountersignError('CONFLICT', 'No.')).headers).not.toHaveProperty('retry-after');
  });
});

describe('a function behind the API', () => {
  const handler = api({
    'GET /fine': async () => ok({ fine: true }),
    'GET /refused': async () => {
      throw new CountersignError('NOT_FOUND', 'Nothing there.');
    },
    'GET /broken': async () => JSON.parse('4111-secret') as never,
  });

  test('answers JSON that nobody keeps', async () => {
    expect(await handler(event('GET /fine'), context)).toEqual({
      statusCode: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: '{"fine":true}',
    });
  });

  test('answers a refusal as a problem document', async () => {
    const answer = await handler(event('GET /refused'), context);
    expect(answer).toMatchObject({ statusCode: 404, headers: { 'content-type': 'application/problem+json' } });
    expect(JSON.parse(answer.body ?? '')).toMatchObject({ code: 'NOT_FOUND', detail: 'Nothing there.' });
  });

  test.each(['GET /none', '$default', 'toString', '__proto__'])('knows no route "%s"', async (routeKey) => {
    expect(await handler(event(routeKey), context)).toMatchObject({ statusCode: 404 });
  });

  test('says of a fault of its own where it is, and quotes nothing', async () => {
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const answer = await handler(event('GET /broken'), context);
    expect(answer.statusCode).toBe(500);
    const line = String(written.mock.calls[0]?.[0]);
    expect(JSON.parse(line)).toMatchObject({ level: 'error', requestId: 'call-1', error: 'SyntaxError' });
    expect(JSON.parse(line).at[0]).toContain('at ');
    expect(line + answer.body).not.toContain('secret');
  });
});
