import { Aws, CfnOutput, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  AccountRecovery,
  FeaturePlan,
  Mfa,
  OAuthScope,
  ResourceServerScope,
  UserPool,
  UserPoolClient,
  UserPoolDomain,
  UserPoolGroup,
  UserPoolResourceServer,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import type { Scope } from '../core/principal.ts';

export interface IdentityProps {
  readonly webUrl: string;
  /** As in tokens, with its slash: `countersign/`. */
  readonly scopePrefix: string;
  /** A group is made for each. */
  readonly roles: readonly string[];
}

const meanings: Readonly<Record<Scope, string>> = {
  request: 'Ask for approval, claim it, report the outcome',
  decide: 'See what waits for one of my roles, and decide',
  audit: 'Read every request and the audit of every run',
  policies: 'Publish policies',
};

/**
 * People and agents, for those who have no identity provider of their own. People sign in on the hosted page and may only
 * decide; agents and auditors are clients with a secret. Cognito gives every scope of a client to everybody who signs in
 * through it, so the web client must not know the scopes `request`, `audit` and `policies`.
 */
export class Identity extends Construct {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly webClientId: string;
  /** In a person's access token. */
  static readonly nameClaim = 'username';

  constructor(scope: Construct, id: string, { webUrl, scopePrefix, roles }: IdentityProps) {
    super(scope, id);
    const userPool = new UserPool(this, 'people', {
      selfSignUpEnabled: false,
      // A user name is chosen by an administrator and can never change: what an audit can name people by.
      signInAliases: { username: true, email: true },
      signInCaseSensitive: false,
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      featurePlan: FeaturePlan.ESSENTIALS,
      mfa: Mfa.REQUIRED,
      mfaSecondFactor: { otp: true, sms: false },
      passwordPolicy: {
        minLength: 12,
        requireDigits: true,
        requireLowercase: true,
        requireUppercase: true,
        requireSymbols: true,
      },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    Validations.of(userPool).acknowledge({
      id: 'AwsSolutions-COG8',
      reason:
        'Nobody can sign up and everybody has a second factor; whoever wants threat protection pays for it knowingly.',
    });
    for (const groupName of roles) new UserPoolGroup(this, `role ${groupName}`, { userPool, groupName });
    const domain = new UserPoolDomain(this, 'domain', {
      userPool,
      cognitoDomain: { domainPrefix: `${Stack.of(this).stackName.toLowerCase()}-${Aws.ACCOUNT_ID}` },
    });

    const scopes = Object.entries(meanings).map(
      ([scopeName, scopeDescription]) => new ResourceServerScope({ scopeName, scopeDescription }),
    );
    const server = new UserPoolResourceServer(this, 'scopes', {
      userPool,
      identifier: scopePrefix.replace(/\/$/, ''),
      scopes,
    });
    const only = (scope: Scope) =>
      OAuthScope.resourceServer(
        server,
        new ResourceServerScope({ scopeName: scope, scopeDescription: meanings[scope] }),
      );

    const web = new UserPoolClient(this, 'web', {
      userPool,
      generateSecret: false,
      authFlows: {},
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, only('decide')],
        callbackUrls: [`${webUrl}/sign-in/callback`],
        logoutUrls: [`${webUrl}/`],
      },
      preventUserExistenceErrors: true,
      accessTokenValidity: Duration.hours(1),
    });
    const machine = (name: string, scope: Scope) =>
      new UserPoolClient(this, name, {
        userPool,
        generateSecret: true,
        authFlows: {},
        oAuth: { flows: { clientCredentials: true }, scopes: [only(scope)] },
        accessTokenValidity: Duration.hours(1),
      });
    const agent = machine('agent', 'request');
    const auditor = machine('auditor', 'audit');

    this.issuer = userPool.userPoolProviderUrl;
    this.webClientId = web.userPoolClientId;
    this.audience = [web, agent, auditor].map((client) => client.userPoolClientId);
    new CfnOutput(this, 'userPoolId', { value: userPool.userPoolId }).overrideLogicalId('UserPoolId');
    new CfnOutput(this, 'tokenUrl', { value: `${domain.baseUrl()}/oauth2/token` }).overrideLogicalId('TokenUrl');
    new CfnOutput(this, 'agentClientId', { value: agent.userPoolClientId }).overrideLogicalId('AgentClientId');
    new CfnOutput(this, 'auditorClientId', { value: auditor.userPoolClientId }).overrideLogicalId('AuditorClientId');
  }
}
