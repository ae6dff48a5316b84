import type { AuditEntry, RunFacts, UnsealedEntry } from './audit-entry.ts';
import { isRepeatedFailure } from './bounds.ts';
import { canonicalJson, fromCanonical, sha256Hex } from './canonical-json.ts';
import { outcomesOwedAfter } from './outcome-owed.ts';
import type { StoredEntry } from './ports.ts';
import type { RequestState } from './request.ts';

/** Domain separation: no other bytes that Countersign hashes begin like this. */
const entryPrefix = 'countersign/audit-entry/v1\n';

/** `previousHash` of the first entry of a run. */
export const genesis = 'genesis';

/** `SHA-256("countersign/audit-entry/v1\n" + JCS(entry without hash))`, lower-case hex. */
export const hashOfEntry = (canonical: string): string => sha256Hex(entryPrefix + canonical);

export function sealEntry(entry: UnsealedEntry): AuditEntry {
  const canonical = canonicalJson(entry);
  return { ...entry, hash: hashOfEntry(canonical), canonical };
}

/** Reads an entry back from its canonical string. */
export const openEntry = ({ canonical, hash }: Pick<StoredEntry, 'canonical' | 'hash'>): AuditEntry => ({
  ...fromCanonical<UnsealedEntry>(canonical),
  hash,
  canonical,
});

/** What the next entry of the run stands on. */
export const nextInChain = (tail: AuditEntry | undefined): { sequence: number; previousHash: string } => ({
  sequence: (tail?.sequence ?? 0) + 1,
  previousHash: tail?.hash ?? genesis,
});

/** The name under which attempts are counted: an action's name is the agent's text, and entries hold none. */
export const attemptKey = (actionName: string): string => sha256Hex(actionName).slice(0, 16);

/** A no after the step ends the run, a person's as well as a rule's; so does silence, which is never a yes. */
function stoppedBy(run: RunFacts, { phase, status, requestId, ...after }: RequestState): Pick<RunFacts, 'stoppedBy'> {
  if (run.stoppedBy !== undefined) return { stoppedBy: run.stoppedBy };
  const takenBack = status === 'REVOKED' && 'decision' in after && after.decision.source === 'human';
  const isNo = status === 'REJECTED' || status === 'TIMED_OUT' || takenBack;
  return phase === 'after' && isNo ? { stoppedBy: requestId } : {};
}

function repeatedFailures(
  { repeatedFailures = [] }: RunFacts,
  before: RequestState | undefined,
  { policy, actionName }: RequestState,
): Pick<RunFacts, 'repeatedFailures'> {
  const found = !before && isRepeatedFailure(policy.matched) ? [attemptKey(actionName)] : [];
  const all = [...new Set([...repeatedFailures, ...found])];
  return all.length > 0 ? { repeatedFailures: all } : {};
}

const digestKey = (argsDigest: string): string => argsDigest.slice('sha256:'.length, 'sha256:'.length + 16);

/** The last ones only: the tail of a run stays small. */
const mostEdited = 20;

function edited({ edited = [] }: RunFacts, after: RequestState): Pick<RunFacts, 'edited'> {
  const { requestId, argsDigest, effectiveDigest, status } = after;
  const others = edited.filter((one) => one.requestId !== requestId);
  const isEdited = status === 'APPROVED' && effectiveDigest !== argsDigest;
  const all = isEdited ? [...others, { digest: digestKey(argsDigest), requestId }] : others;
  return all.length > 0 ? { edited: all.slice(-mostEdited) } : {};
}

/** The request of the run in which a person approved other arguments in place of these; the last one, if there are several. */
export const editedInPlaceOf = (run: RunFacts | undefined, argsDigest: string): string | undefined =>
  run?.edited?.findLast(({ digest }) => digest === digestKey(argsDigest))?.requestId;

/** The facts of the run after a change, from those before it. */
export function runFactsAfter(
  run: RunFacts | undefined,
  before: RequestState | undefined,
  after: RequestState,
): RunFacts {
  const known = run ?? { pending: 0, attempts: {} };
  const key = attemptKey(after.actionName);
  const attempts = { ...known.attempts };
  if (!before && attempts[key] !== undefined) attempts[key] += 1;
  if (before && after.status === 'REJECTED' && before.status !== 'REJECTED') attempts[key] ??= 1;
  return {
    requestedBy: known.requestedBy ?? after.requestedBy,
    missionId: known.missionId ?? after.missionId,
    policyVersion: before ? (known.policyVersion ?? after.policy.version) : after.policy.version,
    policySince: known.policySince ?? after.requestedAt,
    ...stoppedBy(known, after),
    pending: known.pending + Number(after.status === 'PENDING') - Number(before?.status === 'PENDING'),
    requests: (known.requests ?? 0) + Number(before === undefined),
    attempts,
    ...repeatedFailures(known, before, after),
    ...edited(known, after),
    ...outcomesOwedAfter(known, after),
  };
}
