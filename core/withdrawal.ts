import { isPast, withWake } from './deadline.ts';
import { decisionMembers } from './decision.ts';
import { CountersignError } from './errors.ts';
import type { Instant } from './instant.ts';
import type { Precedent } from './precedent.ts';
import type { Principal } from './principal.ts';
import type { RequestState } from './request.ts';
import { change, type Step, same } from './step.ts';
import { checkSize, textContent } from './texts.ts';

/** The agent no longer needs a question that is still open. Throws `ALREADY_DECIDED`. */
export function cancel(state: RequestState, { now }: { now: Instant }): Step {
  if (state.status === 'CANCELLED') return same;
  if (state.status !== 'PENDING')
    throw new CountersignError(
      'ALREADY_DECIDED',
      `The request is already ${state.status}; only a pending one is cancelled.`,
      decisionMembers(state),
    );
  const after: RequestState = {
    ...state,
    owed: {},
    status: 'CANCELLED',
    cancelledBy: state.requestedBy,
    closedAt: now,
  };
  return change(withWake(after), { type: 'request_cancelled', details: {} });
}

/**
 * A person who may decide takes an approval back before it is used. Throws `NOT_AN_APPROVER`, `NOT_APPROVED`,
 * `ALREADY_CLAIMED`, `ALREADY_DECIDED`, `DEADLINE_PASSED`.
 */
export function revoke(
  state: RequestState,
  command: { note?: string | undefined },
  { person, now, salt }: { person: Principal; now: Instant; salt: string },
): Step {
  requireEntitled(state, person);
  if (state.status === 'PENDING')
    throw new CountersignError('NOT_APPROVED', 'The request is still pending: reject it instead.', {
      status: state.status,
    });
  if (state.status === 'REVOKED' && state.decision.decidedBy.some((name) => name === person.id)) return same;
  if (state.status !== 'APPROVED')
    throw new CountersignError(
      'ALREADY_DECIDED',
      `The request is already ${state.status}; only an approval is taken back.`,
      decisionMembers(state),
    );
  if (state.claim)
    throw new CountersignError(
      'ALREADY_CLAIMED',
      `The approval was used at ${state.claim.claimedAt}; it cannot be taken back.`,
      { claimedAt: state.claim.claimedAt },
    );
  if (isPast(state.claimBy, now))
    throw new CountersignError('DEADLINE_PASSED', `The approval ended unused at ${state.claimBy}.`, {
      status: state.status,
    });
  checkSize('note', command.note);
  const text = command.note === undefined ? undefined : textContent('vote-text', salt, { note: command.note });
  const { claimBy: _claimBy, decision: _decision, ...facts } = state;
  const after: RequestState = {
    ...facts,
    status: 'REVOKED',
    decision: {
      word: 'revoke',
      source: 'human',
      decidedBy: [person.id],
      decidedAt: now,
      ...(text && { textDigest: text.digest }),
    },
    closedAt: now,
  };
  return change(
    withWake(after),
    { type: 'approval_revoked', details: text ? { textDigest: text.digest } : {} },
    text ? [text] : [],
  );
}

/**
 * A person who may take the approval back takes back what followed from it: the action is novel again. The request itself stays
 * as it is. Throws `NOT_AN_APPROVER`.
 */
export function revokePrecedentOf(
  state: RequestState,
  precedent: Precedent,
  command: { reason: string },
  { person, now, salt }: { person: Principal; now: Instant; salt: string },
): Step {
  requireEntitled(state, person);
  if (precedent.revoked || precedent.requestId !== state.requestId) return same;
  const text = textContent('vote-text', salt, { note: command.reason });
  const details = { precedentId: precedent.precedentId, textDigest: text.digest };
  const revoked = { by: person.id, at: now };
  return {
    ...change(state, { type: 'precedent_revoked', details }, [text]),
    moves: [{ kind: 'precedent-revocation', before: precedent, revoked }],
  };
}

/** Throws `NOT_AN_APPROVER`. */
function requireEntitled(state: RequestState, person: Principal): void {
  const entitled = rolesThatRevoke(state);
  if (person.roles.some((role) => entitled.includes(role))) return;
  throw new CountersignError(
    'NOT_AN_APPROVER',
    `Taking this back needs ${entitled.join(' or ')}; you hold ${person.roles.join(', ') || 'no role'}.`,
    { asked: entitled },
  );
}

const rolesThatRevoke = (state: RequestState): string[] => [
  ...new Set([
    ...state.approvals.map(({ role }) => role),
    ...state.asked,
    ...state.policy.approvals.map(({ role }) => role),
    state.policy.approverRole,
    ...state.policy.escalateTo,
  ]),
];
