import { isPast, withWake } from './deadline.ts';
import { askedDeliveries } from './deliveries.ts';
import { addSeconds, type Instant } from './instant.ts';
import type { QuorumRole } from './policy.ts';
import { countingApprovals, fillPlaces, missingVotes } from './quorum.ts';
import type { ApprovedState, PendingState, RequestState } from './request.ts';
import { change, type Step, same } from './step.ts';

/** What time alone makes of a request: nothing, as long as nothing is due. Silence is never a person's word. */
export function timeOut(state: RequestState, now: Instant): Step {
  if (state.status === 'APPROVED' && !state.claim && isPast(state.claimBy, now)) return expire(state, now);
  if (state.status !== 'PENDING' || !isPast(state.deadline, now)) return same;
  switch (state.policy.onTimeout) {
    case 'reject':
      return close(state, now, 'no_answer');
    case 'escalate':
      return escalate(state, now);
    case 'proceed':
      return Object.keys(state.owed).length > 0 ? close(state, now, 'alert_never_left') : proceed(state, now);
  }
}

function close(state: PendingState, now: Instant, reason: 'no_answer' | 'alert_never_left'): Step {
  const after: RequestState = {
    ...state,
    owed: {},
    status: 'TIMED_OUT',
    decision: { word: 'timeout', source: 'timeout', decidedBy: [], decidedAt: now },
    closedAt: now,
  };
  return change(withWake(after), { type: 'request_timed_out', details: { deadline: state.deadline, reason } });
}

/** The votes that are missing are asked of the next role; those that were given still count. After the last role: closed. */
function escalate(state: PendingState, now: Instant): Step {
  const next = state.policy.escalateTo[state.level];
  if (next === undefined) return close(state, now, 'no_answer');
  const votes = countingApprovals(state);
  const given = fillPlaces(state.approvals, votes).filter(({ approver }) => approver !== undefined);
  const missing = missingVotes(state.approvals, votes).reduce((sum, { count }) => sum + count, 0);
  const approvals = countByRole([...given.map(({ role }) => role), ...Array<string>(missing).fill(next)]);
  const escalated: PendingState = {
    ...state,
    approvals,
    asked: [next],
    level: state.level + 1,
    deadline: addSeconds(now, state.policy.timeoutSeconds),
  };
  const after: RequestState = { ...escalated, owed: askedDeliveries(escalated, now) };
  const { level, asked, deadline } = escalated;
  return change(withWake(after), { type: 'request_escalated', details: { level, asked, approvals, deadline } });
}

const countByRole = (roles: string[]): QuorumRole[] =>
  [...new Set(roles)].map((role) => ({ role, count: roles.filter((other) => other === role).length }));

function proceed(state: PendingState, now: Instant): Step {
  const claimBy = addSeconds(now, state.policy.validForSeconds);
  const after: RequestState = {
    ...state,
    status: 'APPROVED',
    decision: { word: 'approve', source: 'timeout', decidedBy: [], decidedAt: now },
    claimBy,
    closedAt: now,
  };
  return change(withWake(after), { type: 'request_proceeded', details: { deadline: state.deadline, claimBy } });
}

function expire(state: ApprovedState, now: Instant): Step {
  const { decision: _decision, claimBy, ...facts } = state;
  const after: RequestState = {
    ...facts,
    status: 'REVOKED',
    decision: { word: 'revoke', source: 'timeout', decidedBy: [], decidedAt: now },
    closedAt: now,
  };
  return change(withWake(after), { type: 'approval_expired', details: { claimBy } });
}
