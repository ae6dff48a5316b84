import { canonicalJson, type Digest, digestOf } from './canonical-json.ts';
import type { PinnedPolicy } from './policy.ts';

/** What an entry says of the pinned policy: who changes it later shows. */
export const policyDigest = (policy: PinnedPolicy): Digest => digestOf(canonicalJson(policy));
