import { CfnOutput, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { eachFunction, type FunctionName } from './functions.ts';
import { routes } from './routes.ts';

export interface RoutesProps {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly scopePrefix: string;
  readonly functions: Readonly<Record<FunctionName, Lambda>>;
}

/** Who called what with which result. Never a query string (the sign-in's has a code in it) nor a body. */
const accessLog = {
  requestId: '$context.requestId',
  at: '$context.requestTime',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  status: '$context.status',
  bytes: '$context.responseLength',
  milliseconds: '$context.responseLatency',
  caller: '$context.authorizer.claims.sub',
  authorizerError: '$context.authorizer.error',
  integrationError: '$context.integrationErrorMessage',
};

const openBecause =
  'Health tells nothing; the pages ask for a session of their own, made from a token that they verify, because a browser that follows a link sends no token.';

/** One HTTP API for agents (`/v1`) and for the approvers' pages. Its address exists before its routes: the functions need it. */
export class Api extends Construct {
  readonly url: string;
  readonly #api: HttpApi;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.#api = new HttpApi(this, 'http', { description: 'Countersign', createDefaultStage: false });
    this.url = this.#api.apiEndpoint;
    new HttpStage(this, 'stage', {
      httpApi: this.#api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: 1000, burstLimit: 2000 },
      accessLogSettings: {
        destination: new LogGroupLogDestination(
          new LogGroup(this, 'accessLog', { retention: RetentionDays.SIX_MONTHS }),
        ),
        format: AccessLogFormat.custom(JSON.stringify(accessLog)),
      },
    });
    new CfnOutput(this, 'url', { value: this.url }).overrideLogicalId('ApiUrl');
  }

  addRoutes({ issuer, audience, scopePrefix, functions }: RoutesProps): void {
    const tokens = new HttpJwtAuthorizer('tokens', issuer, { jwtAudience: [...audience] });
    const open = new HttpNoneAuthorizer();
    // One permission for the whole API: one per route would outgrow what a function's resource policy may hold.
    const integrations = eachFunction(
      (name) => new HttpLambdaIntegration(name, functions[name], { scopePermissionToRoute: false }),
    );
    for (const { method, path, function: name, scopes } of routes) {
      const added = this.#api.addRoutes({
        path,
        methods: [HttpMethod[method]],
        integration: integrations[name],
        ...(scopes === 'open'
          ? { authorizer: open }
          : { authorizer: tokens, authorizationScopes: scopes.map((scope) => scopePrefix + scope) }),
      });
      if (scopes === 'open') {
        for (const route of added) Validations.of(route).acknowledge({ id: 'AwsSolutions-APIG4', reason: openBecause });
      }
    }
  }
}
