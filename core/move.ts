import type { AuditEntry } from './audit-entry.ts';
import type { CounterMove } from './counter.ts';
import type { Escalation } from './escalation.ts';
import type { Precedent } from './precedent.ts';
import type { PolicyHead, PublishedPolicy } from './published-policy.ts';
import type { Sample, SampleFill } from './sample.ts';

/**
 * A further write that belongs to the transaction of a change. A move may carry a condition on what its record was when it
 * was read; where that no longer holds, nothing of the change is written and the commit is a `conflict`: whoever made the
 * move reads its record again.
 */
export type Move =
  | CounterMove
  | { kind: 'escalation'; escalation: Escalation }
  /** A version that nobody has published yet. */
  | { kind: 'policy-version'; published: PublishedPolicy }
  /** Goes on from the head that was read; absent: nothing was published. */
  | { kind: 'policy-head'; missionId: string; before?: PolicyHead; after: PolicyHead }
  /** One more entry, in another chain than the change's own. */
  | { kind: 'entry'; entry: AuditEntry }
  /** Sets a precedent in place of what was read: nothing, or one that was revoked then. */
  | { kind: 'precedent'; precedent: Precedent; before?: Precedent }
  /** Writes nothing; the precedent that a verdict stands on must still be in force. */
  | { kind: 'precedent-relied-on'; precedent: Precedent }
  /** Revokes a precedent that is still as it was read. */
  | { kind: 'precedent-revocation'; before: Precedent; revoked: NonNullable<Precedent['revoked']> }
  | { kind: 'sample'; sample: Sample }
  /** Goes with its sample, which must be there. */
  | { kind: 'sample-fill'; sampleId: string; fill: SampleFill };
