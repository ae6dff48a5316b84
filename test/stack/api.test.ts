import { describe, expect, it } from 'vitest';
import { ofType, one, type Resource, type SynthesisedTemplate, templateFor } from './synthesised.ts';

const template = templateFor();

const routesIn = (from: SynthesisedTemplate) =>
  new Map(
    ofType(from, 'AWS::ApiGatewayV2::Route').map(([, { Properties }]) => [Properties.RouteKey as string, Properties]),
  );

/** Routes of `/v1` that answer without a token, or to a token of any scope. */
const unguarded = (from: SynthesisedTemplate): string[] =>
  [...routesIn(from)]
    .filter(([key]) => key.includes(' /v1/') && key !== 'GET /v1/health')
    .filter(
      ([, route]) =>
        route.AuthorizationType !== 'JWT' || !route.AuthorizerId || !(route.AuthorizationScopes?.length > 0),
    )
    .map(([key]) => key);

describe('the API', () => {
  it('asks for a token and a scope on every /v1 route but health', () => {
    expect(unguarded(template)).toEqual([]);
  });

  it.each<[string, (route: Resource['Properties']) => void]>([
    ['no authorizer', (route) => delete route.AuthorizerId],
    ['authorization NONE', (route) => Object.assign(route, { AuthorizationType: 'NONE' })],
    ['no scope', (route) => delete route.AuthorizationScopes],
  ])('would not pass with %s on one route', (_, spoil) => {
    const spoiled = structuredClone(template);
    spoil(routesIn(spoiled).get('POST /v1/requests/{requestId}/claim'));
    expect(unguarded(spoiled)).toEqual(['POST /v1/requests/{requestId}/claim']);
  });

  it('lets no agent decide and no approver claim', () => {
    const scopes = (key: string) => routesIn(template).get(key)?.AuthorizationScopes;
    expect(scopes('POST /v1/requests/{requestId}/decision')).toEqual(['countersign/decide']);
    expect(scopes('POST /v1/requests/{requestId}/revocation')).toEqual(['countersign/decide']);
    expect(scopes('POST /v1/requests/{requestId}/claim')).toEqual(['countersign/request']);
    expect(scopes('GET /v1/runs/{runId}/audit')).toEqual(['countersign/audit']);
  });

  it('has the prefix of the deployment on its scopes', () => {
    const identity = { issuer: 'https://id.example', audience: ['web'], webClientId: 'web' };
    const own = templateFor({ identity, scopePrefix: 'approvals.' });
    expect(routesIn(own).get('POST /v1/requests')?.AuthorizationScopes).toEqual(['approvals.request']);
  });

  it('gives each function one permission, however many routes there are', () => {
    const invokers = ofType(template, 'AWS::Lambda::Permission').filter(
      ([, { Properties }]) => Properties.Principal === 'apigateway.amazonaws.com',
    );
    const permitted = invokers.map(([, { Properties }]) => JSON.stringify(Properties.FunctionName));
    expect(new Set(permitted).size).toBe(permitted.length);
    expect(permitted).toHaveLength(6);
  });

  it('answers before API Gateway gives up', () => {
    const timeouts = ofType(template, 'AWS::Lambda::Function')
      .filter(([id]) => !/^(sweep|dispatch)/.test(id))
      .map(([, { Properties }]) => Properties.Timeout);
    expect(Math.max(...timeouts)).toBeLessThanOrEqual(29);
  });

  it('is throttled, and logs no query string', () => {
    const { Properties } = one(template, 'AWS::ApiGatewayV2::Stage');
    expect(Properties.DefaultRouteSettings).toEqual({ ThrottlingBurstLimit: 2000, ThrottlingRateLimit: 1000 });
    expect(Properties.AccessLogSettings.Format).not.toMatch(/path|query/i);
  });

  it('keeps waiting apart, with the concurrency that was configured', () => {
    const reserved = (from: SynthesisedTemplate) =>
      ofType(from, 'AWS::Lambda::Function').flatMap(([id, { Properties }]) =>
        Properties.ReservedConcurrentExecutions ? [[id.slice(0, 4), Properties.ReservedConcurrentExecutions]] : [],
      );
    expect(reserved(template)).toEqual([['wait', 50]]);
    expect(reserved(templateFor({ waitConcurrency: 7 }))).toEqual([['wait', 7]]);
    expect(reserved(templateFor({ waitConcurrency: 0 }))).toEqual([]);
  });
});
