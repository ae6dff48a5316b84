import * as z from 'zod';
import { CountersignError } from '../core/errors.ts';

const roleName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'a role is 1 to 128 letters, digits, dots, hyphens or underscores');

const roles = z.array(roleName).min(1, 'name at least one role');

/** Who hears of requests that wait for one of `roles`. */
const subscription = z.discriminatedUnion('protocol', [
  z.strictObject({ protocol: z.literal('email'), roles, endpoint: z.email('an e-mail address') }),
  z.strictObject({
    protocol: z.literal('sms'),
    roles,
    endpoint: z.string().regex(/^\+[1-9]\d{6,14}$/, 'a telephone number in E.164 form, like +4915112345678'),
  }),
  z.strictObject({
    protocol: z.literal('https'),
    roles,
    endpoint: z.url({ protocol: /^https$/, error: 'an https:// address' }),
  }),
]);

const isLoopback = (address: string) => ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(address).hostname);

const webAddress = z
  .url({ protocol: /^https?$/, error: 'an https:// address' })
  .refine(
    (address) => address.startsWith('https:') || isLoopback(address),
    'http:// only on this machine; use https://',
  )
  .refine((address) => !address.endsWith('/'), 'without a slash at the end');

/** An OpenID Connect issuer that already knows the people and the agents. */
const identity = z.strictObject({
  issuer: webAddress,
  audience: z.array(z.string().regex(/^\S+$/, 'a client id has no blank')).min(1, 'name at least one client id'),
  webClientId: z.string().regex(/^\S+$/, 'a client id has no blank'),
});

const stackConfig = z
  .strictObject({
    region: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'an AWS region, like eu-central-1')
      .default('eu-central-1'),
    /** Left out, the stack makes a Cognito user pool. */
    identity: identity.optional(),
    /** The claim of a token that names a person: one that people cannot change themselves. Left out, `sub`; `username` for the stack's own user pool. */
    nameClaim: z.string().min(1).optional(),
    /** The claim of a token that lists a person's roles. */
    rolesClaim: z.string().min(1).default('cognito:groups'),
    scopePrefix: z
      .string()
      .regex(/^[\x21\x23-\x5b\x5d-\x7e]*$/, 'printable ASCII without blanks, quotes or backslashes')
      .default('countersign/'),
    /** Where links to the pages lead; left out, to the API's own address. */
    webUrl: webAddress.optional(),
    subscriptions: z.array(subscription).default([]),
    /** Who hears of alarms. */
    alarmEmail: z.email('an e-mail address').optional(),
    /** YAML or JSON, from the project's root. */
    policyFile: z.string().min(1).default('policies/default.yaml'),
    /** How late a timeout may be. */
    sweepMinutes: z.int().min(1).max(60).default(1),
    /** Calls that may wait at once; 0 reserves nothing, for an account whose quota leaves no room to. */
    waitConcurrency: z.int().min(0).max(1000).default(50),
  })
  .superRefine(({ identity, scopePrefix, subscriptions }, context) => {
    if (!identity && !/^[^/]+\/$/.test(scopePrefix)) {
      const message = `"${scopePrefix}" cannot be a Cognito scope prefix; it is a name and one slash, like countersign/`;
      context.addIssue({ code: 'custom', path: ['scopePrefix'], message });
    }
    const seen = new Set<string>();
    for (const [index, { protocol, endpoint }] of subscriptions.entries()) {
      const key = `${protocol} ${endpoint}`;
      const message = `${key} is listed twice; SNS keeps one subscription for it, so name all its roles in one`;
      if (seen.has(key)) context.addIssue({ code: 'custom', path: ['subscriptions', index], message });
      seen.add(key);
    }
  });

/** Everything about a deployment that its owner chooses, defaults filled in. */
export type StackConfig = z.output<typeof stackConfig>;
/** The same as it is written down: what is left out gets its default. */
export type GivenStackConfig = z.input<typeof stackConfig>;

/** Fills in the defaults. Throws `VALIDATION_FAILED` that names each wrong member and what is allowed. */
export function readStackConfig(given: unknown): StackConfig {
  const result = stackConfig.safeParse(given);
  if (result.success) return result.data;
  throw new CountersignError(
    'VALIDATION_FAILED',
    `The stack configuration is wrong:\n${z.prettifyError(result.error)}`,
  );
}

const texts = ['region', 'nameClaim', 'rolesClaim', 'scopePrefix', 'webUrl', 'alarmEmail', 'policyFile'] as const;
const numbers = ['sweepMinutes', 'waitConcurrency'] as const;
const identityTexts = ['issuer', 'webClientId'] as const;

/** What only the object under `countersign` may hold. */
const nested = ['identity', 'subscriptions'] as const;
const single = [...texts, ...numbers, ...identityTexts, 'audience'];

/**
 * The configuration in the CDK context: the object under `countersign` (in `cdk.json`, or `-c countersign='{…}'`), over
 * which single members win: `-c region=…`, `-c issuer=… -c audience=a,b -c webClientId=…`. Throws `VALIDATION_FAILED` for
 * keys beside it that look like a setting and are none; the context holds other people's keys too.
 */
export function configFromContext(context: Readonly<Record<string, unknown>>): unknown {
  for (const key of Object.keys(context)) refuseMisspelt(key);
  const config = membersOf(context.countersign ?? {});
  for (const key of texts) config[key] = context[key] ?? config[key];
  for (const key of numbers) config[key] = context[key] === undefined ? config[key] : Number(context[key]);
  const identity = { ...(config.identity as Record<string, unknown> | undefined) };
  for (const key of identityTexts) identity[key] = context[key] ?? identity[key];
  if (context.audience !== undefined) identity.audience = String(context.audience).split(',');
  config.identity = Object.values(identity).some((value) => value !== undefined) ? identity : undefined;
  return config;
}

function refuseMisspelt(key: string): void {
  const alike = (name: string) => name.toLowerCase() === key.toLowerCase();
  const meant = [...single, 'countersign'].find(alike);
  const inside = nested.find(alike);
  if (meant !== undefined && meant !== key)
    throw new CountersignError('VALIDATION_FAILED', `The context key "${key}" is no setting; "${meant}" is.`);
  if (inside !== undefined)
    throw new CountersignError(
      'VALIDATION_FAILED',
      `The context key "${key}" is no setting; "${inside}" is one under "countersign".`,
    );
}

function membersOf(given: unknown): Record<string, unknown> {
  const value = typeof given === 'string' ? parsed(given) : given;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw notAnObject(given);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notAnObject(text);
  }
}

const notAnObject = (given: unknown) =>
  new CountersignError(
    'VALIDATION_FAILED',
    `The context key "countersign" is no JSON object: ${typeof given === 'string' ? given : JSON.stringify(given)}`,
  );
