import type { Instant } from './instant.ts';
import type { Outcome } from './request.ts';

/** An action that ran by itself and was drawn for review afterwards. */
export interface Sample {
  /** The id of its request. */
  sampleId: string;
  runId: string;
  missionId: string;
  actionName: string;
  policyVersion: string;
  requestedBy: string;
  sampledAt: Instant;
  /** What to look at, by digest: the arguments, and the result once there is one. */
  effectiveDigest: string;
}

/** What becomes known when the outcome is reported; from then on the sample waits for review. */
export interface SampleFill {
  outcome: Outcome['outcome'];
  reportedAt: Instant;
  resultDigest?: string;
  /** The queue of those who review it. */
  reviewQueue: string;
}
