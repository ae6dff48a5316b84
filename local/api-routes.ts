import type { PlayedTemplate } from './template.ts';
import { sectionOf, textListOf, textOf } from './template-properties.ts';

/** A route of the HTTP API with everything that it names. */
export interface ApiRoute {
  /** `GET /v1/requests/{requestId}`. */
  routeKey: string;
  functionId: string;
  integrationMilliseconds: number;
  authorizer?: { issuer: string; audience: string[] };
  /** One of them must be in the token. */
  scopes: string[];
}

export interface RouteMatch {
  route: ApiRoute;
  pathParameters: Record<string, string>;
}

/** The routes of the one AWS::ApiGatewayV2::Api in the template. Throws for what is not played, naming it. */
export function readRoutes(template: PlayedTemplate): ApiRoute[] {
  const apis = template.ofType('AWS::ApiGatewayV2::Api');
  if (apis.length !== 1) throw new Error(`the template has ${apis.length} HTTP APIs; exactly one is played`);
  for (const unplayed of ['CorsConfiguration', 'Body', 'Target'])
    if (apis[0]?.properties[unplayed] !== undefined) throw new Error(`${unplayed} of an HTTP API is not played`);
  return template.ofType('AWS::ApiGatewayV2::Route').map(({ logicalId, properties }) => {
    const integrationId = textOf(properties, 'Target', logicalId).replace('integrations/', '');
    const integration = template.get(integrationId).properties;
    const format = textOf(integration, 'PayloadFormatVersion', integrationId);
    const kind = textOf(integration, 'IntegrationType', integrationId);
    if (format !== '2.0' || kind !== 'AWS_PROXY')
      throw new Error(`${integrationId}: ${kind} with payload format ${format} is not played; AWS_PROXY with 2.0 is`);
    return {
      routeKey: textOf(properties, 'RouteKey', logicalId),
      functionId: functionOf(textOf(integration, 'IntegrationUri', integrationId)),
      integrationMilliseconds: Number(integration.TimeoutInMillis ?? 30_000),
      ...authorization(template, properties, logicalId),
    };
  });
}

function authorization(template: PlayedTemplate, properties: Record<string, unknown>, logicalId: string) {
  const kind = properties.AuthorizationType ?? 'NONE';
  if (kind === 'NONE') return { scopes: [] };
  if (kind !== 'JWT')
    throw new Error(`${logicalId}: AuthorizationType ${String(kind)} is not played; NONE and JWT are`);
  const authorizerId = textOf(properties, 'AuthorizerId', logicalId);
  const authorizer = template.get(authorizerId).properties;
  const source = textListOf(authorizer, 'IdentitySource', authorizerId);
  if (source.join() !== '$request.header.Authorization')
    throw new Error(`${authorizerId}: IdentitySource ${source.join()} is not played; $request.header.Authorization is`);
  const jwt = sectionOf(authorizer, 'JwtConfiguration', authorizerId);
  return {
    authorizer: { issuer: textOf(jwt, 'Issuer', authorizerId), audience: textListOf(jwt, 'Audience', authorizerId) },
    scopes: properties.AuthorizationScopes ? textListOf(properties, 'AuthorizationScopes', logicalId) : [],
  };
}

/** Out of a function's ARN, alone or inside the `…/functions/<arn>/invocations` of an integration. */
export function functionOf(arn: string): string {
  const found = /:function:([A-Za-z0-9_-]+)/.exec(arn)?.[1];
  if (!found) throw new Error(`${arn} is not the ARN of a function`);
  return found;
}

/**
 * The route that API Gateway would choose: the most specific path (a fixed segment before a parameter before `{rest+}`),
 * then the method before `ANY`, then `$default`. A malformed escape in a parameter stands as it was sent.
 */
export function matchRoute(routes: readonly ApiRoute[], method: string, path: string): RouteMatch | undefined {
  const segments = path.split('/').slice(1);
  const matches = routes.flatMap((route) => {
    const [routeMethod, routePath] = route.routeKey.split(' ');
    if (routePath === undefined || (routeMethod !== method && routeMethod !== 'ANY')) return [];
    const matched = matchPath(routePath.split('/').slice(1), segments);
    return matched ? [{ route, ...matched, rank: `${matched.rank}${routeMethod === 'ANY' ? 1 : 0}` }] : [];
  });
  const best = matches.sort((one, other) => (one.rank < other.rank ? -1 : 1))[0];
  if (best) return { route: best.route, pathParameters: best.pathParameters };
  const fallback = routes.find(({ routeKey }) => routeKey === '$default');
  return fallback && { route: fallback, pathParameters: {} };
}

/** `rank` sorts the more specific first: 0 for a fixed segment, 1 for a parameter, 2 for the rest. */
function matchPath(pattern: string[], segments: string[]) {
  const pathParameters: Record<string, string> = {};
  let rank = '';
  for (const [index, part] of pattern.entries()) {
    const given = segments[index];
    if (given === undefined) return undefined;
    const name = /^\{(.+?)(\+?)\}$/.exec(part);
    if (name?.[2] === '+') {
      pathParameters[name[1] ?? ''] = decoded(segments.slice(index).join('/'));
      return { pathParameters, rank: `${rank}2` };
    }
    if (name && given === '') return undefined;
    if (name) pathParameters[name[1] ?? ''] = decoded(given);
    else if (part !== decoded(given)) return undefined;
    rank += name ? 1 : 0;
  }
  return segments.length === pattern.length ? { pathParameters, rank } : undefined;
}

export function decoded(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}
