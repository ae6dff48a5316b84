import { describe, expect, it } from 'vitest';
import { awsUses } from '../../lib/aws-uses.ts';
import { type FunctionName, functions } from '../../lib/functions.ts';
import { ofType, one, type SynthesisedTemplate, templateFor } from './synthesised.ts';

interface Statement {
  Sid?: string;
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, unknown>>;
}

const template = templateFor({ subscriptions: [] });
const list = <Value>(value: Value | Value[]): Value[] => (Array.isArray(value) ? value : [value]);

/** Every statement that any role of the stack holds, by whom. */
function statements(from: SynthesisedTemplate): { role: string; statement: Statement }[] {
  const inRoles = ofType(from, 'AWS::IAM::Role').flatMap(([role, { Properties }]) =>
    (Properties.Policies ?? []).flatMap((policy: { PolicyDocument: { Statement: Statement[] } }) =>
      policy.PolicyDocument.Statement.map((statement) => ({ role, statement })),
    ),
  );
  const beside = ofType(from, 'AWS::IAM::Policy').flatMap(([role, { Properties }]) =>
    Properties.PolicyDocument.Statement.map((statement: Statement) => ({ role, statement })),
  );
  return [...inRoles, ...beside];
}

const auditArn = (from: SynthesisedTemplate) => {
  const [id] = ofType(from, 'AWS::DynamoDB::GlobalTable').find(([name]) => name.startsWith('tablesaudit')) ?? [];
  return JSON.stringify({ 'Fn::GetAtt': [id, 'Arn'] });
};

const insideATransaction = { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } };

/** Grants by which evidence could be written alone, changed or removed. */
function waysToTamper(from: SynthesisedTemplate): string[] {
  const arn = auditArn(from);
  return statements(from)
    .filter(({ statement }) => list(statement.Resource).some((resource) => JSON.stringify(resource).includes(arn)))
    .flatMap(({ role, statement }) =>
      list(statement.Action)
        .filter((action) => action !== 'dynamodb:Query')
        .filter(
          (action) =>
            action !== 'dynamodb:PutItem' || JSON.stringify(statement.Condition) !== JSON.stringify(insideATransaction),
        )
        .map((action) => `${role}: ${action}`),
    );
}

/** Actions or resources that are wider than what they name, but for those with a written reason. */
function wildcards(from: SynthesisedTemplate): string[] {
  return statements(from)
    .filter(({ statement }) => statement.Sid !== ('AwsListsStreams' satisfies keyof typeof awsUses))
    .flatMap(({ role, statement }) => [
      ...list(statement.Action).map((action) => `${role}: ${action}`),
      ...list(statement.Resource).map((resource) => `${role}: ${JSON.stringify(resource)}`),
    ])
    .filter((text) => text.includes('*'));
}

/** A template in which the role of `name` holds one statement more. */
function withGrant(name: FunctionName, statement: Partial<Statement>): SynthesisedTemplate {
  const spoiled = structuredClone(template);
  const role = one(spoiled, 'AWS::IAM::Role', `${name}role`);
  role.Properties.Policies[0].PolicyDocument.Statement.push({ Effect: 'Allow', ...statement });
  return spoiled;
}

describe('each function’s role', () => {
  it('is its own', () => {
    const roles = ofType(template, 'AWS::Lambda::Function').map(([, { Properties }]) =>
      JSON.stringify(Properties.Role),
    );
    expect(new Set(roles).size).toBe(Object.keys(functions).length);
    expect(ofType(template, 'AWS::IAM::Policy')).toEqual([]);
    expect(ofType(template, 'AWS::IAM::Role').filter(([, role]) => role.Properties.ManagedPolicyArns)).toEqual([]);
  });

  it('says why for everything that the code never calls', () => {
    const sids = statements(template).flatMap(({ statement }) => statement.Sid ?? []);
    expect(new Set(sids)).toEqual(new Set(Object.keys(awsUses)));
    const unexplained = statements(template).filter(
      ({ statement }) => !statement.Sid && !list(statement.Action).every((action) => /^(dynamodb|sns):/.test(action)),
    );
    expect(unexplained).toEqual([]);
  });

  it('names what it may do and on what, without a wildcard', () => {
    expect(wildcards(template)).toEqual([]);
  });

  it.each([
    { Action: 'dynamodb:*', Resource: 'arn:aws:dynamodb:eu-central-1:1:table/t' },
    { Action: 'sns:Publish', Resource: '*' },
    { Action: 'dynamodb:Query', Resource: { 'Fn::Join': ['', [{ Ref: 'x' }, '/index/*']] } },
  ])('would not pass with $Action on $Resource', (statement) => {
    expect(wildcards(withGrant('reads', statement))).toHaveLength(1);
  });
});

describe('the audit table', () => {
  it('is only read, and put to inside a transaction', () => {
    expect(waysToTamper(template)).toEqual([]);
  });

  const resource = () => JSON.parse(auditArn(template));
  it.each<Partial<Statement>>([
    { Action: 'dynamodb:UpdateItem' },
    { Action: 'dynamodb:DeleteItem' },
    { Action: 'dynamodb:BatchWriteItem' },
    { Action: 'dynamodb:PartiQLUpdate' },
    { Action: 'dynamodb:PutItem' },
    {
      Action: 'dynamodb:PutItem',
      Condition: { 'ForAllValues:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } },
    },
    { Action: ['dynamodb:PutItem', 'dynamodb:UpdateItem'], Condition: insideATransaction },
  ])('would not pass with %o', (statement) => {
    expect(waysToTamper(withGrant('decisions', { ...statement, Resource: resource() }))).toHaveLength(1);
  });

  it('is out of reach for functions that have no business with evidence', () => {
    const arn = auditArn(template);
    const reaching = statements(template)
      .filter(({ statement }) => JSON.stringify(statement.Resource) === arn)
      .map(({ role }) => role.replace(/role.*/, ''));
    expect(new Set(reaching)).toEqual(new Set(['requests', 'decisions', 'policies', 'reads', 'sweep', 'pages']));
  });
});
