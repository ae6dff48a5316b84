import * as z from 'zod';
import type { Digest } from '../canonical-json.ts';
import { checkBody } from '../check-body.ts';
import { CountersignError } from '../errors.ts';
import { isPlainId } from '../fields.ts';
import type { Instant } from '../instant.ts';
import type { PolicyDocument } from '../policy-schema.ts';
import type { Policies, PolicyStore } from '../ports.ts';
import { documentDigest } from '../publication.ts';
import { versionNumber, versionText } from '../published-policy.ts';

const policyQuery = z.strictObject({ version: z.string().max(16).optional() });

/** A version as it was published; the deployed file was published by nobody. */
export interface PolicyVersion {
  missionId: string;
  version: string;
  /** The newest version of the mission. */
  newest: string;
  forced?: string;
  documentDigest: Digest;
  document: PolicyDocument;
  publishedAt?: Instant;
  publishedBy?: string;
}

/** Any version of a mission's policy; without `version` the newest. Throws `NOT_FOUND`, `VALIDATION_FAILED`. */
export async function readPolicy(
  { store, policies }: { store: PolicyStore; policies: Policies },
  { missionId, query }: { missionId: string; query: Record<string, string | undefined> },
): Promise<PolicyVersion> {
  const { version } = checkBody(policyQuery, query, ['version']);
  const head = isPlainId(missionId) ? await store.readHead(missionId) : undefined;
  const { deployed } = policies;
  const isDeployed = missionId === deployed.missionId;
  const newest = head ? versionText(head.newest) : isDeployed ? deployed.version : undefined;
  if (newest === undefined) throw noSuchPolicy(missionId, version);
  const about = { missionId, newest, ...(head?.forced !== undefined && { forced: versionText(head.forced) }) };
  const wanted = version ?? newest;
  if (isDeployed && wanted === deployed.version) {
    const { document } = deployed;
    return { ...about, version: wanted, documentDigest: documentDigest(document), document };
  }
  const number = versionNumber(wanted);
  const published = number === 0 ? undefined : await store.readPublished(missionId, number);
  if (!published) throw noSuchPolicy(missionId, version);
  const { digest, document, publishedAt, publishedBy } = published;
  return { ...about, version: wanted, documentDigest: digest, document, publishedAt, publishedBy };
}

export const noSuchPolicy = (missionId: string, version?: string): CountersignError =>
  new CountersignError(
    'NOT_FOUND',
    `There is no mission ${JSON.stringify(missionId.slice(0, 128))}${version === undefined ? '' : `, or no version ${JSON.stringify(version)} of it`}.`,
  );
