import * as z from 'zod';
import { nextInChain, sealEntry } from '../audit-chain.ts';
import type { AuditEntry } from '../audit-entry.ts';
import type { Digest } from '../canonical-json.ts';
import { checkBody } from '../check-body.ts';
import { claim } from '../claim.ts';
import { ask, idFromKey, type Question } from '../creation.ts';
import { CountersignError } from '../errors.ts';
import { plainId } from '../fields.ts';
import type { Instant } from '../instant.ts';
import type { JsonValue } from '../json.ts';
import { missionInForce } from '../mission-in-force.ts';
import type { MissionPolicy } from '../policy.ts';
import type { PolicyDiff } from '../policy-diff.ts';
import type { Policies, PolicyStore, RequestStore, StoredRequest, World } from '../ports.ts';
import { type Principal, requireScope } from '../principal.ts';
import {
  type Draft,
  guardOf,
  isPublished,
  type Plan,
  planPublication,
  publishAction,
  publishArgs,
  requireExpected,
  type Standing,
} from '../publication.ts';
import { policiesRun, publishingRun, versionText } from '../published-policy.ts';
import { same } from '../step.ts';
import { notFound } from '../visibility.ts';
import { buildChange, changed, changeRequest, untilWon } from './change-request.ts';
import { documentFields, givenDocument } from './given-document.ts';

/** `PUT /v1/policies/{missionId}`. */
const publishBody = z.strictObject({
  ...documentFields,
  force: z.boolean().default(false),
  expectedVersion: z.union([z.string(), z.int().transform(String)]).optional(),
  approvalId: plainId.optional(),
});

export interface PolicyPorts {
  store: RequestStore & PolicyStore;
  policies: Policies;
  world: World;
}

interface Publishing {
  missionId: string;
  body: JsonValue;
  principal: Principal;
  until: number;
}

export interface Publication {
  missionId: string;
  version: string;
  documentDigest: Digest;
  force: boolean;
  diff: PolicyDiff;
  publishedAt: Instant;
  publishedBy: string;
}

/** Published, or a question to people whether it may be. */
export type Published = { publication: Publication } | { approval: StoredRequest };

/**
 * Publishes an immutable version of a mission's policy; the same document again is the same version. Where the mission in force
 * guards `publish_policy`, the first call asks and the second, with `approvalId`, claims that approval in the transaction that
 * publishes. Throws `POLICY_INVALID`, `CONFLICT` (not the version that was expected), `FORBIDDEN` (a rule stops it), what
 * `claim` throws.
 */
export async function publishPolicy(ports: PolicyPorts, given: Publishing): Promise<Published> {
  const { missionId, body, principal, until } = given;
  requireScope(principal, 'policies');
  const { force, expectedVersion, approvalId, ...fields } = checkBody(
    publishBody,
    body,
    Object.keys(publishBody.shape),
  );
  const document = givenDocument(missionId, fields);
  if (!document) throw new CountersignError('VALIDATION_FAILED', 'Neither document nor yaml is given; one is needed.');
  const draft: Draft = { missionId, document, force };
  const acting = { draft, principal, until };
  return untilWon(ports.world, until, async () => {
    const standing = await standingOf(ports, missionId);
    if (isPublished(draft, standing)) return { publication: await alreadyPublished(ports, draft, standing) };
    requireExpected(expectedVersion, standing);
    if (approvalId !== undefined) return publishApproved(ports, { ...acting, approvalId });
    const guard = await guardedBy(ports, draft, standing, principal);
    return guard ? askFirst(ports, acting, standing, guard) : publishNow(ports, acting, standing);
  });
}

async function standingOf({ store, policies }: PolicyPorts, missionId: string): Promise<Standing> {
  const head = await store.readHead(missionId);
  const version = head ? versionText(head.newest) : policies.deployed.version;
  return { head, mission: await policies.find(missionId, version) };
}

async function alreadyPublished({ store }: PolicyPorts, draft: Draft, { head }: Standing): Promise<Publication> {
  const { missionId, document } = draft;
  const published = head && (await store.readPublished(missionId, head.newest));
  if (!published) throw new CountersignError('TOO_MANY_REQUESTS', 'The policy is being published. Ask again.');
  const none = planPublication(draft, { head, mission: { document } as MissionPolicy }, { author: '', now: '' }).diff;
  const { version, digest, publishedAt, publishedBy } = published;
  const force = head.forced === version;
  return {
    missionId,
    version: versionText(version),
    documentDigest: digest,
    force,
    diff: none,
    publishedAt,
    publishedBy,
  };
}

interface Acted {
  draft: Draft;
  principal: Principal;
  until: number;
}

async function publishNow({ store, world }: PolicyPorts, { draft, principal, until }: Acted, standing: Standing) {
  const now = world.now();
  const plan = planPublication(draft, standing, { author: principal.id, now });
  const tail = await store.readTail(policiesRun(draft.missionId));
  const won = await store.record(entryOf(plan, draft, principal, tail, now), plan.moves, until);
  return won === 'conflict' ? undefined : { publication: publicationOf(plan, draft, principal, now) };
}

async function publishApproved(
  ports: PolicyPorts,
  { draft, principal, until, approvalId }: Acted & { approvalId: string },
) {
  const { store } = ports;
  const actor = { kind: 'person' as const, id: principal.id };
  let publication: Publication | undefined;
  await changeRequest(ports, { requestId: approvalId, actor, until }, async (request, now) => {
    const { requestedBy, runId } = request.state;
    if (requestedBy !== principal.id || runId !== publishingRun(draft.missionId)) throw notFound(approvalId);
    const standing = await standingOf(ports, draft.missionId);
    if (isPublished(draft, standing)) return same;
    const plan = planPublication(draft, standing, { author: principal.id, now, approvalId });
    const action = { actionName: publishAction, actionArgs: publishArgs(draft, standing), phase: 'before' as const };
    const claimId = `version-${versionText(plan.version)}`;
    const step = claim(request, { action, claimId }, { claimant: principal.id, now, newClaimId: claimId });
    if (step.kind !== 'change' || step.refusal) return step;
    const tail = await store.readTail(policiesRun(draft.missionId));
    publication = publicationOf(plan, draft, principal, now);
    return { ...step, moves: [...plan.moves, { kind: 'entry', entry: entryOf(plan, draft, principal, tail, now) }] };
  });
  return publication && { publication };
}

const entryOf = (plan: Plan, { missionId }: Draft, { id }: Principal, tail: AuditEntry | undefined, now: Instant) =>
  sealEntry({
    ...plan.event,
    ...nextInChain(tail),
    runId: policiesRun(missionId),
    policyVersion: plan.event.details.version,
    at: now,
    actor: { kind: 'person', id },
    run: tail?.run ?? { pending: 0, attempts: {} },
  });

const publicationOf = (plan: Plan, { missionId, force }: Draft, { id }: Principal, now: Instant): Publication => ({
  missionId,
  version: versionText(plan.version),
  documentDigest: plan.digest,
  force,
  diff: plan.diff,
  publishedAt: now,
  publishedBy: id,
});

/** The mission that makes a question of it; of one that is new, the default mission. Throws `FORBIDDEN` where a rule stops it. */
async function guardedBy(ports: PolicyPorts, draft: Draft, standing: Standing, { id }: Principal) {
  const { store, policies, world } = ports;
  const { missionId } = policies.deployed;
  const mission =
    (await missionInForce(policies, draft.missionId, standing.head)) ??
    (await missionInForce(policies, missionId, await store.readHead(missionId)));
  if (!mission) return undefined;
  const actionArgs = publishArgs(draft, standing);
  const step = { actionArgs, runId: publishingRun(draft.missionId), requestedBy: id, now: world.now() };
  const { effect, matched } = guardOf(mission, step);
  if (effect === 'stop')
    throw new CountersignError(
      'FORBIDDEN',
      `The policy in force stops this publication: ${matched.map(({ ruleId, reason }) => `${ruleId} (${reason})`).join(', ')}.`,
    );
  return effect === 'pause' ? mission : undefined;
}

/** The same question is asked once: as long as it is open, or approved and not used, it is found again. */
async function askFirst(
  ports: PolicyPorts,
  { draft, principal, until }: Acted,
  standing: Standing,
  mission: MissionPolicy,
) {
  const { store, world } = ports;
  const question: Question = {
    runId: publishingRun(draft.missionId),
    missionId: mission.missionId,
    actionName: publishAction,
    actionArgs: publishArgs(draft, standing),
    phase: 'before',
  };
  const tail = await store.readTail(question.runId);
  const asked = idFromKey(principal.id, ['publish', question.actionArgs, standing.head?.newest ?? 0]);
  const earlier = await store.readRequest(asked);
  if (earlier?.state.status === 'PENDING') return { approval: earlier };
  if (earlier?.state.status === 'APPROVED' && !earlier.state.claim) return { approval: earlier };
  const now = world.now();
  const requestId = earlier ? world.randomId() : asked;
  const { previousHash } = nextInChain(tail);
  const context = { requestId, requestedBy: principal.id, now, salt: world.randomId(), previousHash, attempt: 1 };
  const actor = { kind: 'person' as const, id: principal.id };
  const change = buildChange(ask(question, mission, context), { tail, actor, now });
  const won = await store.commit(change, until);
  return won === 'conflict' ? undefined : { approval: changed(new Map(), change) };
}
