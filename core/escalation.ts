import { sha256Hex } from './canonical-json.ts';
import { addSeconds, type Instant } from './instant.ts';
import type { ActionPolicy } from './policy.ts';
import type { RequestState } from './request.ts';

/** An agent's problem, handed over to people. */
export interface Escalation {
  escalationId: string;
  runId: string;
  missionId: string;
  /** `repeated_failure`: the run kept asking for an action after it was rejected. */
  trigger: 'repeated_failure';
  /** The request at which it was noticed. */
  requestId: string;
  actionName: string;
  /** The agent. */
  escalatedBy: string;
  escalatedAt: Instant;
  status: 'OPEN';
  level: number;
  /** Whose it is, as long as it is open. */
  openRole: string;
  deadline: Instant;
}

/** One for each request at which a run was noticed to fail again and again. Its id comes from the request's. */
export function repeatedFailure(
  { requestId, runId, missionId, actionName, requestedBy, requestedAt }: RequestState,
  policy: Pick<ActionPolicy, 'approverRole' | 'timeoutSeconds'>,
): Escalation {
  const hash = sha256Hex(`countersign/escalation-id/v1\n${requestId}`);
  return {
    escalationId: Buffer.from(hash, 'hex').subarray(0, 16).toString('base64url'),
    runId,
    missionId,
    trigger: 'repeated_failure',
    requestId,
    actionName,
    escalatedBy: requestedBy,
    escalatedAt: requestedAt,
    status: 'OPEN',
    level: 0,
    openRole: policy.approverRole,
    deadline: addSeconds(requestedAt, policy.timeoutSeconds),
  };
}
