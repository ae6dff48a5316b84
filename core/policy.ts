import type { Bounds } from './bounds.ts';
import type { Condition } from './condition.ts';
import type { PolicyDocument } from './policy-schema.ts';
import type { Window } from './window.ts';

export type PolicyName = 'autonomous' | 'sampling' | 'approval_novel' | 'approval_gate' | 'dual_approval';
export type OnTimeout = 'reject' | 'escalate' | 'proceed';

/** So many votes of people who hold this role. A list of them is joined by AND. */
export interface QuorumRole {
  role: string;
  count: number;
}

export type Effect = 'allow' | 'pause' | 'stop';

/** A condition over the facts of one step, with an effect. Compiled once, when the document is read. */
export interface Rule {
  id: string;
  condition: Condition;
  effect: Effect;
  reason: string;
  /** With `pause`: which votes are needed, where the rule says so itself. */
  approvals?: QuorumRole[];
  /** With `pause`: seconds; the shortest of those that matched counts. */
  timeoutSeconds?: number;
}

/** A rule that matched, or that could not be read; it stands on the request and in the audit. */
export interface Matched {
  ruleId: string;
  effect: Effect;
  reason: string;
}

/** How one action is treated, every default filled in. */
export interface ActionPolicy {
  policy: PolicyName;
  reason: string;
  /** The role that is asked; where nobody is asked, the one that may take the approval back. */
  approverRole: string;
  /** Empty for `autonomous` and `sampling`. */
  approvals: QuorumRole[];
  /** Seconds until the deadline. */
  timeoutSeconds: number;
  onTimeout: OnTimeout;
  /** Roles asked in turn with `onTimeout: escalate`. */
  escalateTo: string[];
  /** Seconds from the decision in which the approval must be claimed. */
  validForSeconds: number;
  /** 0…1, with `sampling`. */
  sampleRate?: number;
  /** JSON Pointers into the arguments, with `approval_novel`: what was approved once with these values is not novel. Absent: every occurrence is. */
  noveltyKey?: string[];
  /** Seconds that an approval rests before it can be claimed, so that it can be taken back. */
  holdSeconds?: number;
  /** JSON Pointers into the request (`/actionArgs/card/number`) whose values are shown to nobody but the requester. */
  secretPaths: string[];
  /** How often a run may ask for it after a first rejection. */
  maxAttempts: number;
  /** The action's own rules. */
  rules: Rule[];
}

/** A mission's policy document, checked. `version` names its content. */
export interface MissionPolicy {
  missionId: string;
  version: string;
  /** As it was written. */
  document: PolicyDocument;
  actions: ReadonlyMap<string, ActionPolicy>;
  /** For an action that is not listed: an `approval_gate` with the document's defaults. */
  unlisted: ActionPolicy;
  /** Rules over every action of the mission. */
  rules: Rule[];
  windows: Window[];
  bounds: Bounds;
  /** The only principals that may ask. Absent: every agent. */
  agents?: ReadonlySet<string>;
  /** Every claim must be followed by an outcome. */
  requireOutcome?: boolean;
  /** Every role that the document names; who holds one of them may see the mission's requests. */
  roles: ReadonlySet<string>;
}

/** The policy as it stood when the request was made. It stays on the request: nothing that happens to the document later changes it. */
export interface PinnedPolicy {
  name: PolicyName;
  version: string;
  reason: string;
  matched: Matched[];
  timeoutSeconds: number;
  onTimeout: OnTimeout;
  escalateTo: string[];
  validForSeconds: number;
  holdSeconds?: number;
  requireOutcome?: boolean;
  noveltyKey?: string[];
  secretPaths: string[];
  approverRole: string;
  /** What was needed before any escalation; an edit may raise it. */
  approvals: QuorumRole[];
}
