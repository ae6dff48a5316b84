import type { EntryEvent } from './audit-entry.ts';
import { canonicalJson, type Digest, digestOf } from './canonical-json.ts';
import { CountersignError } from './errors.ts';
import { type Evaluation, evaluate, factsOf } from './evaluation.ts';
import type { Instant } from './instant.ts';
import type { JsonObject } from './json.ts';
import type { Move } from './move.ts';
import type { ActionPolicy, MissionPolicy } from './policy.ts';
import { diffOf, type PolicyDiff } from './policy-diff.ts';
import type { PolicyDocument } from './policy-schema.ts';
import { type PolicyHead, versionText } from './published-policy.ts';

/** What somebody wants to publish. */
export interface Draft {
  missionId: string;
  document: PolicyDocument;
  force: boolean;
}

/** What there is now; `mission` absent: nothing, or nothing that can be read. */
export interface Standing {
  head?: PolicyHead | undefined;
  mission?: MissionPolicy | undefined;
}

export const publishAction = 'publish_policy';

export const documentDigest = (document: PolicyDocument): Digest => digestOf(canonicalJson(document));

/** The same document again is no new version; only `force` may have to be added to it. */
export const isPublished = ({ document, force }: Draft, { head }: Standing): boolean =>
  head !== undefined && head.digest === documentDigest(document) && (!force || head.forced === head.newest);

/** Throws `CONFLICT` where the newest version is not the one that the author went on from. */
export function requireExpected(expected: string | undefined, standing: Standing): void {
  const newest = standing.head ? versionText(standing.head.newest) : (standing.mission?.version ?? '0');
  if (expected !== undefined && expected !== newest)
    throw new CountersignError('CONFLICT', `The newest version is ${newest}; you expected ${expected}.`, {
      version: newest,
    });
}

export interface Plan {
  version: number;
  diff: PolicyDiff;
  digest: Digest;
  moves: Move[];
  event: Extract<EntryEvent, { type: 'policy_published' }>;
}

/** The next version, and all that has to be written for it. Its number can be taken by one publication alone. */
export function planPublication(
  { missionId, document, force }: Draft,
  { head, mission }: Standing,
  { author, now, approvalId }: { author: string; now: Instant; approvalId?: string | undefined },
): Plan {
  const digest = documentDigest(document);
  const isNew = head?.digest !== digest;
  const version = isNew ? (head?.newest ?? 0) + 1 : head.newest;
  const diff = diffOf(mission?.document, document);
  const forced = force ? version : head?.forced;
  const after: PolicyHead = { newest: version, digest, ...(forced !== undefined && { forced }) };
  const published = { missionId, version, document, digest, publishedAt: now, publishedBy: author };
  return {
    version,
    diff,
    digest,
    moves: [
      ...(isNew ? [{ kind: 'policy-version' as const, published }] : []),
      { kind: 'policy-head', missionId, ...(head && { before: head }), after },
    ],
    event: {
      type: 'policy_published',
      details: {
        missionId,
        version: versionText(version),
        documentDigest: digest,
        force,
        diff,
        ...(approvalId !== undefined && { approvalId }),
      },
    },
  };
}

/** What has to be approved where publishing is guarded: this document, with these changes to what stands now. */
export const publishArgs = ({ missionId, document, force }: Draft, { mission }: Standing): JsonObject => ({
  missionId,
  documentDigest: documentDigest(document),
  force,
  diff: diffOf(mission?.document, document),
  document: document as JsonObject,
});

/**
 * How publishing is treated by the mission in force: as any action where it is listed; else by the rules that are about
 * `action.name`. A stop that does not name it asks for a person instead: a mission that stops whatever it does not know must
 * not lock itself in.
 */
export function guardOf(
  mission: MissionPolicy,
  step: { actionArgs: JsonObject; runId: string; requestedBy: string; now: Instant },
): Evaluation {
  const facts = factsOf({
    ...step,
    actionName: publishAction,
    missionId: mission.missionId,
    phase: 'before',
    attempt: 1,
  });
  const listed = mission.actions.get(publishAction);
  if (listed) return evaluate(listed, mission, facts);
  const rules = mission.rules
    .filter(({ condition: { source } }) => source.includes('action.name'))
    .map((rule) =>
      rule.effect === 'stop' && !rule.condition.source.includes(publishAction)
        ? { ...rule, effect: 'pause' as const }
        : rule,
    );
  const open: ActionPolicy = { ...mission.unlisted, policy: 'autonomous', approvals: [] };
  return evaluate(open, { ...mission, rules }, facts);
}
