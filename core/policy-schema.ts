import * as z from 'zod';
import { boundIds } from './bounds.ts';
import { parsePointer } from './json-pointer.ts';
import type { OnTimeout, PolicyName } from './policy.ts';

const year = 365 * 24 * 3600;
const policies = ['autonomous', 'sampling', 'approval_novel', 'approval_gate', 'dual_approval'] as const;
const onTimeout = ['reject', 'escalate', 'proceed'] as const satisfies readonly OnTimeout[];

/** Parts of a request that may hold a secret; everything else is needed to read a request at all. */
const secretParts = ['actionArgs', 'actionResult', 'contextSummary', 'metadata'];

/** An object without further members; its message names what it may hold. */
const closed = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `does not know ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}; allowed are ${Object.keys(shape).join(', ')}`
        : undefined,
  });

const name = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9_.-]+$/, 'letters, digits, _ . and - are allowed');
const limit = z.int().min(1).max(1_000_000);
export const defaultValidForSeconds = 3600;

/** A principal as its token names it. */
const agentName = z.string().min(1).max(128);
const seconds = z.int().min(1).max(year);
const reason = z.string().trim().min(1).max(500);
const roles = z.array(name).min(1).max(10).refine(areDifferent, 'each may be named once');

const pointer = z.string().refine(isPointer, 'a JSON Pointer (RFC 6901) such as /vendorId is needed');
const secretPath = z.string().refine(
  isSecretPath,
  `a JSON Pointer into the request is needed: /actionArgs/…, or one that begins with ${secretParts
    .slice(1)
    .map((part) => `/${part}`)
    .join(', ')}`,
);

const approvalList = z
  .array(closed({ role: name, count: z.int().min(1).max(10) }))
  .min(1)
  .max(10)
  .refine((list) => areDifferent(list.map(({ role }) => role)), 'each role may be named once; raise its count instead');

/** How long a condition may be; longer ones are no longer read by anybody. */
const longestCondition = 2_000;

const rule = closed({
  // biome-ignore lint/suspicious/noThenProperty: the word of the language (DESIGN §6); nobody awaits a rule
  then: z.enum(['allow', 'pause', 'stop']),
  id: name.refine(
    (id) => !boundIds.some((bound) => bound === id),
    'is the name of a bound; a rule needs one of its own',
  ),
  when: z.string().trim().min(1).max(longestCondition),
  reason: reason.optional(),
  approvals: approvalList.optional(),
  approverRole: name.optional(),
  timeoutSeconds: seconds.optional(),
}).superRefine((given, context) => {
  for (const member of ['approvals', 'approverRole', 'timeoutSeconds'] as const)
    if (given[member] !== undefined && given.then !== 'pause')
      context.addIssue({
        code: 'custom',
        message: `goes with then: pause only, not with ${given.then}`,
        path: [member],
      });
  if (given.approvals && given.approverRole)
    context.addIssue({
      code: 'custom',
      message: 'is said by approvals already; give one of the two',
      path: ['approverRole'],
    });
});

const rules = z
  .array(rule)
  .max(1000)
  .refine((list) => areDifferent(list.map(({ id }) => id)), 'each id may be given once');

const risk = closed({ reversible: z.boolean(), errorCost: z.enum(['low', 'high']) });

const action = closed({
  policy: z.enum(policies).optional(),
  risk: risk.optional(),
  reason,
  approverRole: name.optional(),
  approvals: approvalList.optional(),
  timeoutSeconds: seconds.optional(),
  onTimeout: z.enum(onTimeout).optional(),
  escalateTo: roles.optional(),
  advisory: z.boolean().optional(),
  validForSeconds: seconds.optional(),
  sampleRate: z.number().min(0).max(1).optional(),
  noveltyKey: z.array(pointer).min(1).max(10).optional(),
  holdSeconds: seconds.optional(),
  maxAttempts: limit.optional(),
  secretPaths: z.array(secretPath).max(100).optional(),
  rules: rules.optional(),
}).superRefine((given, context) => {
  const refuse = (member: keyof typeof given | undefined, message: string) =>
    context.addIssue({ code: 'custom', message, path: member === undefined ? [] : [member] });
  const kind = policyOf(given);
  if (kind === undefined) refuse(undefined, 'needs either policy or risk, and not both');
  if (given.approvals && kind !== 'approval_gate' && kind !== 'approval_novel')
    refuse('approvals', `goes with approval_gate and approval_novel only, not with ${kind}`);
  if (given.approvals && given.approverRole)
    refuse('approverRole', 'is said by approvals already; give one of the two');
  if (given.sampleRate !== undefined && kind !== 'sampling') refuse('sampleRate', 'goes with sampling only');
  if (given.noveltyKey && kind !== 'approval_novel') refuse('noveltyKey', 'goes with approval_novel only');
  if (given.onTimeout === 'escalate' && !given.escalateTo)
    refuse('escalateTo', 'is missing; onTimeout: escalate needs the roles to ask in turn');
  if (given.escalateTo && given.onTimeout !== 'escalate') refuse('escalateTo', 'goes with onTimeout: escalate only');
  if (given.onTimeout === 'proceed' && given.advisory !== true)
    refuse('onTimeout', 'is proceed, which lets silence be a yes; that is allowed only with advisory: true');
  if (given.advisory === true && given.onTimeout !== 'proceed')
    refuse('advisory', 'is true, which goes with onTimeout: proceed only');
  if (given.onTimeout === 'proceed' && votesOf(given) > 1)
    refuse('onTimeout', 'is proceed, which is never allowed where more than one person must approve');
});

const windows = z
  .array(
    closed({
      id: z
        .string()
        .regex(
          /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
          'a name is needed that can stand in a condition: letters, digits and _, no digit first',
        ),
      by: z.enum(['run', 'agent', 'subject']),
      value: pointer.optional(),
      over: z.string().refine(isSpan, '1m to 31d is needed, such as 30m, 24h or 7d'),
      actions: z
        .array(z.string().min(1).max(1024))
        .min(1)
        .max(100)
        .refine(areDifferent, 'each may be named once')
        .optional(),
    }),
  )
  .max(20)
  .refine((list) => areDifferent(list.map(({ id }) => id)), 'each id may be given once');

/** A number is the cap of a run. */
const maxPending = z.union(
  [limit, closed({ run: limit.optional(), agent: limit.optional() })],
  'a number, or {run, agent}, each from 1 to 1000000, is needed',
);

/** The schema of a policy document (DESIGN §6), without a default filled in: what it returns is what was written. */
export const policyDocument = closed({
  mission: name,
  defaults: closed({
    approverRole: name,
    timeoutSeconds: seconds.optional(),
    onTimeout: z.enum(['reject', 'escalate']).optional(),
    escalateTo: roles.optional(),
    validForSeconds: seconds.optional(),
    holdSeconds: seconds.optional(),
    maxAttempts: limit.optional(),
  }).superRefine((given, context) => {
    if ((given.onTimeout === 'escalate') !== (given.escalateTo !== undefined))
      context.addIssue({ code: 'custom', message: 'onTimeout: escalate and escalateTo go together' });
  }),
  actions: z.record(z.string().min(1).max(1024), action),
  rules: rules.optional(),
  windows: windows.optional(),
  maxAttempts: limit.optional(),
  maxRequests: limit.optional(),
  maxPending: maxPending.optional(),
  agents: z.array(agentName).min(1).max(1000).refine(areDifferent, 'each may be named once').optional(),
  requireOutcome: z.boolean().optional(),
}).superRefine(({ rules: ofAll = [], actions, defaults }, context) => {
  for (const [actionName, { holdSeconds, validForSeconds }] of Object.entries(actions)) {
    const rests = holdSeconds ?? defaults.holdSeconds ?? 0;
    const valid = validForSeconds ?? defaults.validForSeconds ?? defaultValidForSeconds;
    if (rests >= valid)
      context.addIssue({
        code: 'custom',
        message: `rests for ${rests} seconds, so it could never be claimed: an approval is valid for ${valid}`,
        path: ['actions', actionName, 'holdSeconds'],
      });
  }
  const taken = new Set(ofAll.map(({ id }) => id));
  for (const [actionName, { rules: own = [] }] of Object.entries(actions))
    for (const [index, { id }] of own.entries())
      if (taken.has(id))
        context.addIssue({
          code: 'custom',
          message: 'is the id of a rule of the mission already',
          path: ['actions', actionName, 'rules', index, 'id'],
        });
});

export type PolicyDocument = z.infer<typeof policyDocument>;
export type ActionDocument = PolicyDocument['actions'][string];
export type RuleDocument = NonNullable<PolicyDocument['rules']>[number];

/** The policy as named, or as the matrix chooses it from the risk; `undefined` where it is neither or both. */
export function policyOf({ policy, risk }: Pick<ActionDocument, 'policy' | 'risk'>): PolicyName | undefined {
  if (risk === undefined || policy !== undefined) return risk === undefined ? policy : undefined;
  if (risk.reversible) return risk.errorCost === 'low' ? 'autonomous' : 'sampling';
  return risk.errorCost === 'low' ? 'approval_novel' : 'approval_gate';
}

function votesOf(given: Pick<ActionDocument, 'policy' | 'risk' | 'approvals'>): number {
  if (policyOf(given) === 'dual_approval') return 2;
  return (given.approvals ?? []).reduce((sum, { count }) => sum + count, 0);
}

function isSpan(text: string): boolean {
  const seconds = secondsOfSpan(text);
  return seconds !== undefined && seconds >= 60 && seconds <= 31 * 86_400;
}

/** `30m`, `24h`, `7d` in seconds. */
export function secondsOfSpan(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? [];
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }[unit ?? ''];
  return seconds === undefined ? undefined : Number(count) * seconds;
}

function areDifferent(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}

function isPointer(text: string): boolean {
  return text !== '' && tokensOf(text) !== undefined;
}

function isSecretPath(text: string): boolean {
  const tokens = tokensOf(text) ?? [];
  return secretParts.includes(tokens[0] ?? '') && (tokens[0] !== 'actionArgs' || tokens.length > 1);
}

function tokensOf(text: string): string[] | undefined {
  try {
    return parsePointer(text);
  } catch {
    return undefined;
  }
}
