import type { Instant } from './instant.ts';
import type { Outcome, RequestState } from './request.ts';

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

/** The sample of a request that was drawn. */
export const sampleFor = (state: RequestState): Sample => ({
  sampleId: state.requestId,
  runId: state.runId,
  missionId: state.missionId,
  actionName: state.actionName,
  policyVersion: state.policy.version,
  requestedBy: state.requestedBy,
  sampledAt: state.requestedAt,
  effectiveDigest: state.effectiveDigest,
});

/** It waits for those who would have been asked. */
export const fillOf = (state: RequestState, { outcome, reportedAt, resultDigest }: Outcome): SampleFill => ({
  outcome,
  reportedAt,
  ...(resultDigest !== undefined && { resultDigest }),
  reviewQueue: state.policy.approverRole,
});
