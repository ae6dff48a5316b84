import type { RunFacts } from './audit-entry.ts';
import { addSeconds, type Instant } from './instant.ts';
import type { MissionPolicy } from './policy.ts';
import type { Policies } from './ports.ts';
import { type PolicyHead, versionNumber, versionText } from './published-policy.ts';

const day = 24 * 3600;

/**
 * The version to which a run is bound: the one that it began with, for 24 hours; a later one that was published with `force`
 * instead of it; `undefined`: the newest. So every version binds every run within a day of its publication.
 */
export function boundVersion(
  head: PolicyHead | undefined,
  run: Pick<RunFacts, 'policyVersion' | 'policySince'> | undefined,
  now: Instant,
): string | undefined {
  if (run?.policyVersion === undefined || run.policySince === undefined) return undefined;
  if (now >= addSeconds(run.policySince, day)) return undefined;
  const forced = head?.forced ?? 0;
  return versionNumber(run.policyVersion) < forced ? versionText(forced) : run.policyVersion;
}

/**
 * The rules for the next request of a run: the version that it is bound to, else (also where that one is gone) the newest, else
 * the deployed file. A mission whose newest version cannot be read pauses everything. `undefined`: nobody defined the mission.
 */
export async function missionInForce(
  policies: Policies,
  missionId: string,
  head: PolicyHead | undefined,
  bound?: string,
): Promise<MissionPolicy | undefined> {
  const own = bound === undefined ? undefined : await policies.find(missionId, bound);
  if (own) return own;
  const { deployed } = policies;
  if (!head) return missionId === deployed.missionId ? deployed : undefined;
  const version = versionText(head.newest);
  return (await policies.find(missionId, version)) ?? unreadable(missionId, version, deployed);
}

const unreadable = (missionId: string, version: string, deployed: MissionPolicy): MissionPolicy => ({
  ...deployed,
  missionId,
  version,
  actions: new Map(),
  rules: [],
});
