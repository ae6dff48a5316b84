import * as z from 'zod';
import type { PlayedTemplate } from './template.ts';

/** One thing that a function wants to do, as IAM sees it: a transaction is a call for each of its items. */
export interface Call {
  /** `dynamodb:Query`. */
  action: string;
  /** ARN. */
  resource: string;
  /** Values of condition keys; a key that is missing is missing for IAM too. */
  context: Readonly<Record<string, readonly string[]>>;
}

export interface Allowed {
  allowed: true;
}
export interface Refused {
  allowed: false;
  reason: string;
}
export type Verdict = Allowed | Refused;

interface Condition {
  operator: keyof typeof operators;
  key: string;
  values: string[];
}

/** One action on one resource of one statement. */
export interface Grant {
  effect: 'Allow' | 'Deny';
  action: string;
  resource: string;
  conditions: Condition[];
  sid?: string | undefined;
  /** Where it stands: logical id of the policy or role, and the number of the statement. */
  from: string;
}

/** The endpoint gives the first a value where AWS does; the second is missing from all that a function itself calls. */
const contextKeys = ['dynamodb:EnclosingOperation', 'kms:ViaService'];

/** Managed policies that hold nothing but the writing of logs. */
const inertManagedPolicies = ['arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole'];

/** How the values of a call's key are held against those of a statement. A missing key is an empty list. */
const operators = {
  StringEquals: (given: readonly string[], allowed: readonly string[]) =>
    given.length === 1 && allowed.includes(given[0] ?? ''),
  'ForAnyValue:StringEquals': (given: readonly string[], allowed: readonly string[]) =>
    given.some((value) => allowed.includes(value)),
  /** True where the key is missing, as in AWS: that is its trap. */
  'ForAllValues:StringEquals': (given: readonly string[], allowed: readonly string[]) =>
    given.every((value) => allowed.includes(value)),
};

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string()).min(1)]);
const statementSchema = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Action: oneOrMore,
  Resource: oneOrMore,
  Condition: z
    .partialRecord(
      z.enum(Object.keys(operators) as (keyof typeof operators)[]),
      z.partialRecord(z.enum(contextKeys), oneOrMore),
    )
    .optional(),
});
const documentSchema = z.strictObject({ Version: z.string(), Statement: z.array(statementSchema) });
const policySchema = z.strictObject({
  PolicyName: z.string(),
  PolicyDocument: documentSchema,
  Roles: z.array(z.string()).optional(),
});
const roleSchema = z.strictObject({
  AssumeRolePolicyDocument: z.unknown(),
  ManagedPolicyArns: z.array(z.enum(inertManagedPolicies)).optional(),
  Policies: z.array(policySchema.omit({ Roles: true })).optional(),
  Description: z.string().optional(),
  Tags: z.unknown().optional(),
});

/**
 * Everything that a function's role says in the template, action by action and resource by resource. Throws for a
 * statement that it does not understand: an operator, a condition key, `NotAction`, a managed policy.
 */
export function grantsOf(template: PlayedTemplate, functionLogicalId: string): Grant[] {
  const { Role: roleArn } = template.get(functionLogicalId).properties;
  const role = template
    .ofType('AWS::IAM::Role')
    .find(({ logicalId }) => roleArn === `arn:aws:iam::${template.accountId}:role/${logicalId}`);
  if (!role) throw new Error(`${functionLogicalId}.Role: ${JSON.stringify(roleArn)} is no role of the template`);
  const { Policies = [] } = understand(role.logicalId, role.properties, roleSchema);
  const attached = template
    .ofType('AWS::IAM::Policy')
    .map(({ logicalId, properties }) => ({ logicalId, ...understand(logicalId, properties, policySchema) }))
    .filter(({ Roles }) => Roles?.includes(role.logicalId));
  return [
    ...Policies.flatMap((policy) => grantsIn(`${role.logicalId}.${policy.PolicyName}`, policy.PolicyDocument)),
    ...attached.flatMap((policy) => grantsIn(policy.logicalId, policy.PolicyDocument)),
  ];
}

function understand<Schema extends z.ZodType>(logicalId: string, properties: unknown, schema: Schema): z.infer<Schema> {
  const checked = schema.safeParse(properties);
  if (checked.success) return checked.data;
  throw new Error(
    `${logicalId} says something that the permission check does not understand:\n${z.prettifyError(checked.error)}`,
  );
}

function grantsIn(policy: string, document: z.infer<typeof documentSchema>): Grant[] {
  return document.Statement.flatMap((statement, index) => {
    const conditions = Object.entries(statement.Condition ?? {}).flatMap(([operator, keys]) =>
      Object.entries(keys ?? {}).map(([key, values]) => ({ operator, key, values }) as Condition),
    );
    return statement.Action.flatMap((action) =>
      statement.Resource.map((resource) => ({
        effect: statement.Effect,
        sid: statement.Sid,
        action,
        resource,
        conditions,
        from: `${policy}[${index}]`,
      })),
    );
  });
}

/** What IAM would say: refused, unless something allows the call and nothing denies it. */
export function evaluate(grants: readonly Grant[], call: Call): Verdict {
  const matching = grants.filter((grant) => matches(grant, call));
  const denying = matching.find(({ effect }) => effect === 'Deny');
  const what = `${call.action} on ${call.resource}`;
  if (denying) return { allowed: false, reason: `${what} is denied by ${denying.from}` };
  if (matching.length > 0) return { allowed: true };
  const within = Object.entries(call.context).map(([key, values]) => ` (${key}: ${values.join(', ')})`);
  return { allowed: false, reason: `nothing in the role allows ${what}${within.join('')}` };
}

function matches(grant: Grant, call: Call): boolean {
  return (
    covers(grant.action.toLowerCase(), call.action.toLowerCase()) &&
    covers(grant.resource, call.resource) &&
    grant.conditions.every(({ operator, key, values }) => operators[operator](call.context[key] ?? [], values))
  );
}

const compiled = new Map<string, RegExp>();

/** Whether an IAM pattern (`*` any text, `?` one character) covers a text. */
function covers(pattern: string, text: string): boolean {
  const known = compiled.get(pattern);
  if (known) return known.test(text);
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  compiled.set(pattern, new RegExp(`^${escaped}$`, 's'));
  return covers(pattern, text);
}

/** The permission check of one function, from its role in the template. Throws as {@link grantsOf} does. */
export function permissionsOf(template: PlayedTemplate, functionLogicalId: string): (call: Call) => Verdict {
  const grants = grantsOf(template, functionLogicalId);
  return (call) => evaluate(grants, call);
}
