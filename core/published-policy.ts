import type { Digest } from './canonical-json.ts';
import type { Instant } from './instant.ts';
import type { PolicyDocument } from './policy-schema.ts';

/** What is the newest of a mission: the one item of its policy that moves. Version 0 is the deployed file. */
export interface PolicyHead {
  newest: number;
  /** The last version published with `force`. */
  forced?: number;
  /** Of the newest version's document. */
  digest: Digest;
}

/** One version, written once. */
export interface PublishedPolicy {
  missionId: string;
  /** 1, 2, 3 … */
  version: number;
  document: PolicyDocument;
  /** `sha256:` + hex over the document's canonical JSON. */
  digest: Digest;
  publishedAt: Instant;
  publishedBy: string;
}

const prefix = 'policies:';

/** The chain in which the publications of a mission are recorded: a run that no agent can open. */
export const policiesRun = (missionId: string): string => `${prefix}${missionId}`;

/** The run of the questions whether a version of the mission may be published. */
export const publishingRun = (missionId: string): string => `${prefix}${missionId}:approvals`;

export const isPoliciesRun = (runId: string): boolean => runId.startsWith(prefix);

/** As it stands on requests and in answers; the deployed file has 12 hex digits there. */
export const versionText = (version: number): string => String(version);

/** The number of a published version; 0 for the deployed file. */
export const versionNumber = (version: string): number => (/^[1-9]\d{0,10}$/.test(version) ? Number(version) : 0);
