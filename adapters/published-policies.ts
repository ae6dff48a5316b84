import { CountersignError } from '../core/errors.ts';
import type { MissionPolicy } from '../core/policy.ts';
import { checkPolicyDocument, missionPolicy } from '../core/policy-document.ts';
import type { Policies, PolicyStore } from '../core/ports.ts';
import { versionNumber, versionText } from '../core/published-policy.ts';

/** So many compiled versions are kept; the one that was not asked for the longest goes first. */
const mostKept = 200;

/** Versions from the store, each read and compiled once: a version never changes. Which one is the newest is never kept. */
export function publishedPolicies(deployed: MissionPolicy, store: Pick<PolicyStore, 'readPublished'>): Policies {
  const kept = new Map<string, MissionPolicy>();

  const read = async (missionId: string, version: number): Promise<MissionPolicy | undefined> => {
    const published = await store.readPublished(missionId, version);
    return published && compiled(published.document, version);
  };

  return {
    deployed,
    find: async (missionId, version) => {
      if (missionId === deployed.missionId && version === deployed.version) return deployed;
      const number = versionNumber(version);
      if (number === 0) return undefined;
      const key = `${version} ${missionId}`;
      const mission = kept.get(key) ?? (await read(missionId, number));
      if (!mission) return undefined;
      kept.delete(key);
      kept.set(key, mission);
      for (const oldest of kept.keys()) {
        if (kept.size <= mostKept) break;
        kept.delete(oldest);
      }
      return mission;
    },
  };
}

/** A document that an earlier release took and this one does not understand is as good as gone. */
function compiled(document: unknown, version: number): MissionPolicy | undefined {
  try {
    return { ...missionPolicy(checkPolicyDocument(document)), version: versionText(version) };
  } catch (error) {
    if (error instanceof CountersignError) return undefined;
    throw error;
  }
}
