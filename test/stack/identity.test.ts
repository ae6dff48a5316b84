import { describe, expect, it } from 'vitest';
import { environment } from '../../adapters/environment.ts';
import { ofType, one, type SynthesisedTemplate, templateFor } from './synthesised.ts';

const clients = (template: SynthesisedTemplate) =>
  new Map(
    ofType(template, 'AWS::Cognito::UserPoolClient').map(([id, { Properties }]) => [
      id.replace(/^identity(.*)[0-9A-F]{8}$/, '$1'),
      Properties,
    ]),
  );

/** What a client may ask for, beside what OpenID itself defines. */
const scopesOf = (template: SynthesisedTemplate, name: string): string[] =>
  (clients(template).get(name)?.AllowedOAuthScopes ?? [])
    .map((scope: unknown) => (typeof scope === 'string' ? scope : JSON.stringify(scope)))
    .filter((scope: string) => scope.includes('/'))
    .map((scope: string) => scope.replace(/.*"\/(\w+)".*/, '$1').replace(/.*\//, ''));

const variablesOf = (template: SynthesisedTemplate, name: string) =>
  one(template, 'AWS::Lambda::Function', name).Properties.Environment.Variables;

describe('without an identity provider of one’s own', () => {
  const template = templateFor();

  it('the stack makes a user pool that nobody can join alone and that asks for a second factor', () => {
    const { Properties, DeletionPolicy } = one(template, 'AWS::Cognito::UserPool');
    expect(Properties.AdminCreateUserConfig.AllowAdminCreateUserOnly).toBe(true);
    expect(Properties.MfaConfiguration).toBe('ON');
    expect(Properties.DeletionProtection).toBe('ACTIVE');
    expect(DeletionPolicy).toBe('Retain');
  });

  it('people sign in by the name that an administrator chose, or by e-mail, and are called by that name', () => {
    const { UsernameAttributes, AliasAttributes } = one(template, 'AWS::Cognito::UserPool').Properties;
    expect([UsernameAttributes, AliasAttributes]).toEqual([undefined, ['email']]);
    for (const name of ['requests', 'decisions', 'reads', 'wait', 'pages'])
      expect(variablesOf(template, name)).toMatchObject({ [environment.nameClaim]: 'username' });
  });

  it('people decide, agents ask, auditors audit, and no client may do two of these', () => {
    expect(scopesOf(template, 'web')).toEqual(['decide']);
    expect(scopesOf(template, 'agent')).toEqual(['request']);
    expect(scopesOf(template, 'auditor')).toEqual(['audit']);
    expect(clients(template).get('web')?.AllowedOAuthFlows).toEqual(['code']);
    expect(clients(template).get('web')?.GenerateSecret).toBe(false);
    expect(clients(template).get('agent')?.AllowedOAuthFlows).toEqual(['client_credentials']);
    expect(clients(template).get('agent')?.GenerateSecret).toBe(true);
  });

  it('each role that the policy names is a group', () => {
    const groups = ofType(template, 'AWS::Cognito::UserPoolGroup').map(([, { Properties }]) => Properties.GroupName);
    expect(groups).toEqual(['senior_manager', 'support_agent', 'support_manager']);
  });

  it('the outputs say where an agent gets its token', () => {
    const { TokenUrl, UserPoolId, AgentClientId, AuditorClientId } = template.Outputs;
    expect([UserPoolId, AgentClientId, AuditorClientId]).not.toContain(undefined);
    expect(JSON.stringify(TokenUrl?.Value)).toMatch(
      /"https:\/\/".*"\.auth\.eu-central-1\.amazoncognito\.com\/oauth2\/token"/,
    );
  });

  it('the authorizer believes that pool and its clients only', () => {
    const { JwtConfiguration } = one(template, 'AWS::ApiGatewayV2::Authorizer').Properties;
    const [pool] = ofType(template, 'AWS::Cognito::UserPool').map(([id]) => id);
    expect(JwtConfiguration.Issuer).toEqual({ 'Fn::GetAtt': [pool, 'ProviderURL'] });
    expect(JwtConfiguration.Audience).toHaveLength(clients(template).size);
  });
});

describe('with an identity provider of one’s own', () => {
  const identity = {
    issuer: 'https://id.example/tenant',
    audience: ['agents', 'web-client'],
    webClientId: 'web-client',
  };
  const template = templateFor({ identity, rolesClaim: 'roles', webUrl: 'https://approvals.example' });
  const variables = (name: string) => variablesOf(template, name);

  it('the stack makes no user pool', () => {
    expect(Object.values(template.Resources).filter(({ Type }) => Type.startsWith('AWS::Cognito'))).toEqual([]);
    expect(template.Outputs.Issuer?.Value).toBe(identity.issuer);
  });

  it('authorizer and pages believe the same issuer and audience', () => {
    const { JwtConfiguration } = one(template, 'AWS::ApiGatewayV2::Authorizer').Properties;
    expect(JwtConfiguration).toEqual({ Issuer: identity.issuer, Audience: identity.audience });
    expect(variables('pages')).toMatchObject({
      [environment.issuer]: identity.issuer,
      [environment.audience]: 'agents web-client',
      [environment.webClientId]: 'web-client',
      [environment.webUrl]: 'https://approvals.example',
      [environment.nameClaim]: 'sub',
      [environment.rolesClaim]: 'roles',
    });
  });

  it('people may be called by another of its claims', () => {
    const named = templateFor({ identity, nameClaim: 'preferred_username' });
    expect(variablesOf(named, 'decisions')).toMatchObject({ [environment.nameClaim]: 'preferred_username' });
  });

  it('each function gets only the variables that it needs', () => {
    expect(Object.keys(variables('wait')).sort()).toEqual([
      'NAME_CLAIM',
      'REQUESTS_TABLE',
      'ROLES_CLAIM',
      'SCOPE_PREFIX',
    ]);
    expect(Object.keys(variables('dispatch')).sort()).toEqual(['ALERTS_TOPIC_ARN', 'REQUESTS_TABLE', 'WEB_URL']);
  });
});
