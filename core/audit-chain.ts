import type { AuditEntry, RunFacts, UnsealedEntry } from './audit-entry.ts';
import { canonicalJson, fromCanonical, sha256Hex } from './canonical-json.ts';
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
    policyVersion: known.policyVersion ?? after.policy.version,
    pending: known.pending + Number(after.status === 'PENDING') - Number(before?.status === 'PENDING'),
    attempts,
  };
}
