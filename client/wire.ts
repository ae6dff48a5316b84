export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json;
}

export type Status = 'PENDING' | 'APPROVED' | 'REJECTED' | 'RESPONDED' | 'TIMED_OUT' | 'CANCELLED' | 'REVOKED';
type Verdict = 'allow' | 'pause' | 'stop';

/** What an agent asks. */
export interface Question {
  runId: string;
  actionName: string;
  actionArgs: JsonObject;
  contextSummary?: string;
  missionId?: string;
  phase?: 'before' | 'after';
  occurrenceId?: string;
  sourceAgent?: string;
  targetAgent?: string;
  onBehalfOf?: string;
  agentConfidence?: number;
  /** With phase `after`: what came of the step. */
  actionResult?: Json;
  traceId?: string;
  revisionOf?: string;
  /** May only shorten what the policy says. */
  timeoutSeconds?: number;
  metadata?: JsonObject;
}

export interface Summary {
  requestId: string;
  runId: string;
  missionId: string;
  actionName: string;
  requestedBy: string;
  requestedAt: string;
  status: Status;
  verdict: Verdict;
  closedAt?: string;
}

export interface ApprovalRequest extends Summary {
  phase: 'before' | 'after';
  occurrenceId?: string;
  actionArgs: JsonObject;
  argsDigest: string;
  contextSummary?: string;
  onBehalfOf?: string;
  policy: {
    name: string;
    version: string;
    reason: string;
    matched: { ruleId: string; effect: Verdict; reason: string }[];
  };
  approvals: { role: string; count: number }[];
  level: number;
  deadline: string;
  votes: { approver: string; word: string; role?: string; note?: string; at: string }[];
  decision?: {
    word: string;
    source: 'human' | 'policy' | 'timeout';
    decidedBy: string[];
    decidedAt: string;
    note?: string;
    response?: Json;
    editedArgs?: Json;
  };
  /** What an approval allows: the arguments as asked or, after an edit, as edited. */
  effectiveArgs: JsonObject;
  effectiveDigest: string;
  claimBy?: string;
  claim?: { claimId: string; claimedAt: string; claimedBy: string };
  outcome?: 'succeeded' | 'failed' | 'unknown';
  version: number;
}

/** A person's word. `argsDigest` is the `effectiveDigest` of what the person read. */
export type Decision =
  | { decision: 'approve'; argsDigest: string; note?: string }
  | { decision: 'reject'; note: string; argsDigest?: string }
  | { decision: 'edit'; argsDigest: string; editedArgs: JsonObject; note?: string }
  | { decision: 'respond'; argsDigest: string; response: Json; note?: string };

export interface Page<Item> {
  items: Item[];
  cursor?: string;
}

export interface AuditEntry {
  sequence: number;
  at: string;
  type: string;
  actor: { kind: string; id: string };
  requestId?: string;
  hash: string;
}

export interface Verification {
  intact: boolean;
  entries: number;
  brokenAt?: number;
  reason?: string;
}

/** A policy document as JSON, or the text of a YAML or JSON file. */
export type GivenPolicy = { document: object } | { yaml: string };

export interface PolicyVersion {
  missionId: string;
  version: string;
  newest: string;
  documentDigest: string;
  document: JsonObject;
  publishedAt?: string;
  publishedBy?: string;
}

/** Published; or, where the policy in force guards its own change, a request that people decide first. */
export type Published =
  | { version: string; missionId: string; documentDigest: string; force: boolean }
  | { approval: ApprovalRequest };

/** A step to try, and a policy document to try in place of the one in force. */
export type SimulatedStep = Omit<Question, 'runId' | 'missionId'> & { runId?: string } & (
    | GivenPolicy
    | { document?: never; yaml?: never }
  );

export interface Simulation {
  verdict: Verdict;
  policy: { name: string; version: string; reason: string };
  matched: { ruleId: string; effect: Verdict; reason: string }[];
  approvals: { role: string; count: number }[];
  timeoutSeconds: number;
  /** Every rule that was looked at, in order. */
  explanation: { ruleId: string; effect: Verdict; result: boolean | 'unreadable'; reason: string }[];
}
