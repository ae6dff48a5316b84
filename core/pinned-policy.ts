import { canonicalJson, type Digest, digestOf } from './canonical-json.ts';
import type { RequestFacts } from './request.ts';

/** What an entry says of all that the mission pinned to the request, who may see it included: who changes it later shows. */
export const policyDigest = ({
  policy,
  missionRoles,
  attempt,
}: Pick<RequestFacts, 'policy' | 'missionRoles' | 'attempt'>): Digest =>
  digestOf(canonicalJson({ policy, missionRoles, attempt }));
