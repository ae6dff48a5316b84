import * as z from 'zod';
import type { RequestSummary } from '../../core/ports.ts';
import type { RequestState } from '../../core/request.ts';

const instant = z.iso.datetime({ precision: 3 });
const count = z.int().nonnegative();
const quorum = z.array(z.object({ role: z.string(), count: z.int().positive() }));

const policy = z.object({
  name: z.enum(['autonomous', 'sampling', 'approval_novel', 'approval_gate', 'dual_approval']),
  version: z.string(),
  reason: z.string(),
  matched: z.array(z.object({ ruleId: z.string(), effect: z.enum(['allow', 'pause', 'stop']), reason: z.string() })),
  timeoutSeconds: z.number(),
  onTimeout: z.enum(['reject', 'escalate', 'proceed']),
  escalateTo: z.array(z.string()),
  validForSeconds: z.number(),
  holdSeconds: z.number().optional(),
  requireOutcome: z.boolean().optional(),
  noveltyKey: z.array(z.string()).optional(),
  secretPaths: z.array(z.string()),
  approverRole: z.string(),
  approvals: quorum,
});

const vote = z.object({
  approver: z.string(),
  word: z.enum(['approve', 'reject', 'edit', 'respond']),
  roles: z.array(z.string()),
  argsDigest: z.string().optional(),
  textDigest: z.string().optional(),
  editedDigest: z.string().optional(),
  at: instant,
});

const owed = z.object({
  kind: z.enum(['asked', 'escalated']),
  role: z.string(),
  level: count,
  attempts: count,
  nextAt: instant,
});

const decimal = z.string().regex(/^\d+(\.\d+)?$/);
const reservation = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('window'), window: z.string(), counter: z.string(), bucket: count, amount: decimal }),
  z.object({ kind: z.literal('pending'), counter: z.string() }),
  z.object({ kind: z.literal('equal'), counter: z.string() }),
]);

const facts = z.object({
  requestId: z.string(),
  runId: z.string(),
  missionId: z.string(),
  phase: z.enum(['before', 'after']),
  occurrenceId: z.string().optional(),
  actionName: z.string(),
  sourceAgent: z.string().optional(),
  targetAgent: z.string().optional(),
  onBehalfOf: z.string().optional(),
  traceId: z.string().optional(),
  revisionOf: z.string().optional(),
  requestedBy: z.string(),
  requestedAt: instant,
  argsDigest: z.string(),
  effectiveDigest: z.string(),
  textsDigest: z.string(),
  bodyDigest: z.string(),
  policy,
  missionRoles: z.array(z.string()),
  attempt: z.int().positive(),
  reserved: z.array(reservation).optional(),
  editedEarlier: z.string().optional(),
  precedent: z.object({ precedentId: z.string(), requestId: z.string() }).optional(),
  sample: z.object({ rate: z.number(), draw: z.number(), sampled: z.boolean() }).optional(),
  approvals: quorum,
  asked: z.array(z.string()),
  level: count,
  deadline: instant,
  votes: z.array(vote),
  editors: z.array(z.string()),
  lateAttempts: z.record(z.string(), count),
  owed: z.record(z.string(), owed),
  delivered: z.record(z.string(), instant),
  wakeAt: instant.optional(),
  version: count,
  lastEntry: z.object({ sequence: count, hash: z.string() }),
});

const byPerson = <Word extends string>(...words: [Word, ...Word[]]) =>
  z.object({
    word: z.enum(words),
    source: z.literal('human'),
    decidedBy: z.tuple([z.string()], z.string()),
    decidedAt: instant,
    textDigest: z.string().optional(),
  });
const byItself = <Word extends string, Source extends string>(word: Word, source: Source) =>
  z.object({ word: z.literal(word), source: z.literal(source), decidedBy: z.tuple([]), decidedAt: instant });

const claim = z.object({ claimId: z.string(), claimedAt: instant, claimedBy: z.string() });
const outcome = z.object({
  outcome: z.enum(['succeeded', 'failed', 'unknown']),
  reportedAt: instant,
  resultDigest: z.string().optional(),
});

/** The state as it must stand in the table; attributes that only the indexes need are dropped on reading. */
export const stateSchema = z.discriminatedUnion('status', [
  facts.extend({ status: z.literal('PENDING') }),
  facts.extend({
    status: z.literal('APPROVED'),
    decision: z.discriminatedUnion('source', [
      byPerson('approve', 'edit'),
      byItself('approve', 'policy'),
      byItself('approve', 'timeout'),
    ]),
    claimBy: instant,
    closedAt: instant,
    claim: claim.optional(),
    outcome: outcome.optional(),
  }),
  facts.extend({
    status: z.literal('REJECTED'),
    decision: z.discriminatedUnion('source', [byPerson('reject'), byItself('reject', 'policy')]),
    closedAt: instant,
  }),
  facts.extend({ status: z.literal('RESPONDED'), decision: byPerson('respond'), closedAt: instant }),
  facts.extend({ status: z.literal('TIMED_OUT'), decision: byItself('timeout', 'timeout'), closedAt: instant }),
  facts.extend({ status: z.literal('CANCELLED'), cancelledBy: z.string(), closedAt: instant }),
  facts.extend({
    status: z.literal('REVOKED'),
    decision: z.discriminatedUnion('source', [byPerson('revoke'), byItself('revoke', 'timeout')]),
    closedAt: instant,
  }),
]) satisfies z.ZodType<RequestState>;

const { requestId, runId, missionId, phase, actionName, requestedBy, onBehalfOf, requestedAt, deadline, level } =
  facts.shape;
const { asked, missionRoles } = facts.shape;

export const summarySchema = z.object({
  requestId,
  runId,
  missionId,
  phase,
  actionName,
  requestedBy,
  onBehalfOf,
  requestedAt,
  deadline,
  level,
  asked,
  missionRoles,
  status: z.enum(['PENDING', 'APPROVED', 'REJECTED', 'RESPONDED', 'TIMED_OUT', 'CANCELLED', 'REVOKED']),
  outcomeOwed: z.literal(true).optional(),
}) satisfies z.ZodType<RequestSummary>;
