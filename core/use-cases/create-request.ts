import * as z from 'zod';
import { attemptKey, nextInChain } from '../audit-chain.ts';
import type { RunFacts } from '../audit-entry.ts';
import { checkBody } from '../check-body.ts';
import { ask, bodyDigest, idFromKey, type Question } from '../creation.ts';
import { CountersignError } from '../errors.ts';
import { jsonObject, jsonValue, name, plainId, requiredText } from '../fields.ts';
import type { JsonValue } from '../json.ts';
import { boundVersion, missionInForce } from '../mission-in-force.ts';
import { pausesForOutcome } from '../outcome-owed.ts';
import type { Matched, MissionPolicy } from '../policy.ts';
import type { Policies, PrecedentStore, RequestStore, StoredRequest, World } from '../ports.ts';
import { type Principal, requireScope } from '../principal.ts';
import { isPoliciesRun } from '../published-policy.ts';
import { buildChange, changed, untilWon } from './change-request.ts';
import { equalThatWaits, imposedBy, refuseTooMany, roomFor } from './room-for.ts';

/** `POST /v1/requests`. Sizes are checked apart, since too large is another answer than wrong. */
export const createBody = z.strictObject({
  runId: plainId,
  actionName: requiredText(512),
  actionArgs: jsonObject,
  contextSummary: z.string().optional(),
  missionId: plainId.default('default'),
  phase: z.enum(['before', 'after']).default('before'),
  occurrenceId: plainId.optional(),
  sourceAgent: name.optional(),
  targetAgent: name.optional(),
  onBehalfOf: name.optional(),
  agentConfidence: z.number().min(0).max(1).optional(),
  actionResult: jsonValue.optional(),
  traceId: plainId.optional(),
  revisionOf: plainId.optional(),
  timeoutSeconds: z.int().min(1).optional(),
  metadata: jsonObject.optional(),
});

const headerKey = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'an Idempotency-Key is 1 to 128 visible ASCII characters');

interface Asking {
  body: JsonValue;
  idempotencyKey?: string | undefined;
  principal: Principal;
  until: number;
}

/**
 * Creates a request, or finds the one that the same key made before (`created: false`). Throws `VALIDATION_FAILED`,
 * `FORBIDDEN`, `PAYLOAD_TOO_LARGE`, `IDEMPOTENCY_CONFLICT`, `CONFLICT` (the run is somebody else's), `TOO_MANY_REQUESTS`.
 */
export async function createRequest(
  { store, policies, world }: { store: RequestStore & PrecedentStore; policies: Policies; world: World },
  { body, idempotencyKey, principal, until }: Asking,
): Promise<{ created: boolean; request: StoredRequest }> {
  requireScope(principal, 'request');
  const question: Question = checkBody(createBody, body, Object.keys(createBody.shape));
  if (question.actionResult !== undefined && question.phase === 'before')
    throw new CountersignError('VALIDATION_FAILED', '/actionResult goes with phase "after"; the phase is "before".');
  if (isPoliciesRun(question.runId))
    throw new CountersignError(
      'VALIDATION_FAILED',
      '/runId: runs that begin with "policies:" hold the publications of policies.',
    );
  const key = keyOf(question, idempotencyKey);
  const requestId = key === undefined ? world.randomId() : idFromKey(principal.id, key);

  let again = false;
  return untilWon(world, until, async () => {
    const { earlier, head } = await store.readForCreate(key === undefined ? undefined : requestId, question.missionId);
    if (earlier) return replay(store, requestId, earlier.bodyDigest, question);
    const tail = await store.readTail(question.runId);
    const owner = tail?.run;
    if (
      owner?.requestedBy !== undefined &&
      (owner.requestedBy !== principal.id || owner.missionId !== question.missionId)
    )
      throw new CountersignError(
        'CONFLICT',
        `The run ${question.runId} belongs to another requester or another mission.`,
      );
    const now = world.now();
    const mission = await missionInForce(policies, question.missionId, head, boundVersion(head, owner, now));
    if (!mission)
      throw new CountersignError(
        'VALIDATION_FAILED',
        `/missionId: there is no mission ${JSON.stringify(question.missionId)}.`,
      );
    requireAdmitted(mission, principal);
    const asked = { question, mission, requestedBy: principal.id, run: owner, isKeyed: key !== undefined };
    const room = await roomFor(store, asked, again);
    again = true;
    const equal = await equalThatWaits(store, room);
    if (equal) return { created: false, request: equal };
    const attempt = (owner?.attempts[attemptKey(question.actionName)] ?? 0) + 1;
    const context = {
      requestId,
      requestedBy: principal.id,
      now,
      salt: world.randomId(),
      previousHash: nextInChain(tail).previousHash,
      attempt,
      ...room,
    };
    const change = buildChange(
      ask(question, mission, {
        ...context,
        imposed: [...stopsOf(owner), ...pausesForOutcome(owner, now), ...imposedBy(asked, room, attempt)],
      }),
      {
        tail,
        actor: { kind: 'agent', id: principal.id },
        now,
      },
    );
    refuseTooMany(change.after, asked, room);
    const revises = question.revisionOf !== undefined && { requestId: question.revisionOf, requestedBy: principal.id };
    const result = await store.commit(revises ? { ...change, revises } : change, until);
    return result === 'conflict' ? undefined : { created: true, request: changed(new Map(), change) };
  });
}

/** Beside the rules: after an after-checkpoint that was answered with no, the run does nothing more. */
export const stopsOf = (run: RunFacts | undefined): Matched[] =>
  run?.stoppedBy === undefined
    ? []
    : [
        {
          ruleId: 'run:stopped',
          effect: 'stop',
          reason: `The run was stopped after one of its steps, by request ${run.stoppedBy}; go on in a new run`,
        },
      ];

/** Throws `FORBIDDEN`. */
function requireAdmitted({ missionId, agents }: MissionPolicy, { id }: Principal): void {
  if (!agents || agents.has(id)) return;
  throw new CountersignError(
    'FORBIDDEN',
    `The mission ${missionId} admits only the agents that its policy names; ${id} is none of them.`,
  );
}

/** A header names the retry; else the occurrence of the step does; without either every call is a new question. */
function keyOf(question: Question, idempotencyKey: string | undefined): JsonValue | undefined {
  if (idempotencyKey !== undefined) {
    checkBody(headerKey, idempotencyKey, [], 'the header');
    return ['key', idempotencyKey];
  }
  const { occurrenceId, phase, runId } = question;
  return occurrenceId === undefined ? undefined : ['occurrence', runId, phase, occurrenceId];
}

async function replay(store: RequestStore, requestId: string, earlier: string, question: Question) {
  if (earlier !== bodyDigest(question))
    throw new CountersignError(
      'IDEMPOTENCY_CONFLICT',
      `The same key was used before with another body, for request ${requestId}. A new question needs a new key.`,
      { requestId },
    );
  const request = await store.readRequest(requestId);
  return request && { created: false, request };
}
