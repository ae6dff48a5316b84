import { html } from 'hono/html';
import { claimableAt } from '../core/claim.ts';
import { isPast } from '../core/deadline.ts';
import type { Instant } from '../core/instant.ts';
import type { StoredRequest } from '../core/ports.ts';
import { renderValue } from '../core/render-value.ts';
import type { ApprovedState, RequestState } from '../core/request.ts';
import type { Html } from './layout.ts';
import { named, printed, shown } from './shown.ts';
import { clockTime } from './time.ts';
import { wordsOf } from './what-runs.ts';

/** What became of it: who, when, in whose words. A question that nobody answered never reads as somebody's refusal. */
export function resultBanner(request: StoredRequest, now: Instant): Html | undefined {
  const result = resultOf(request.state, now);
  if (result === undefined) return undefined;
  const { note, response } = wordsOf(request, textOf(request.state));
  return html`<section class="notice" role="status">${result}
${note !== undefined && html`<p>Note: <span class="value">${shown(note)}</span></p>`}
${response !== undefined && html`<p>Answer to the agent: <span class="value">${printed(renderValue(response))}</span></p>`}
</section>`;
}

function resultOf(state: RequestState, now: Instant): Html | undefined {
  switch (state.status) {
    case 'PENDING':
      return isPast(state.deadline, now)
        ? html`<p><strong>The time was over at ${clockTime(state.deadline)}.</strong> No answer counts any more; what follows is about to be recorded.</p>`
        : escalated(state);
    case 'APPROVED':
      return html`${approvedBy(state)}${useOf(state, now)}`;
    case 'REJECTED':
      return html`<p><strong>${names(state.decision.decidedBy)} rejected this at ${clockTime(state.closedAt)}.</strong> ${didNotRun(state)}</p>`;
    case 'RESPONDED':
      return html`<p><strong>${names(state.decision.decidedBy)} answered instead at ${clockTime(state.closedAt)}.</strong> ${didNotRun(state)}</p>`;
    case 'TIMED_OUT':
      return html`<p><strong>The time was over at ${clockTime(state.deadline)}. Nobody answered; this is not a rejection.</strong> ${didNotRun(state)}</p>`;
    case 'CANCELLED':
      return html`<p><strong>${named(state.cancelledBy)} no longer needs this (${clockTime(state.closedAt)}).</strong> There is nothing to decide.</p>`;
    case 'REVOKED':
      return state.decision.source === 'human'
        ? html`<p><strong>${names(state.decision.decidedBy)} took the approval back at ${clockTime(state.closedAt)}, before it was used.</strong></p>`
        : html`<p><strong>The approval ended at ${clockTime(state.closedAt)} because nobody used it in time.</strong> ${didNotRun(state)}</p>`;
  }
}

/** Whoever was asked before learns here why the decision is no longer theirs. */
const escalated = ({ level, asked, deadline }: RequestState): Html | undefined =>
  level === 0
    ? undefined
    : html`<p><strong>Now ${asked.join(' or ')} is asked, until ${clockTime(deadline)}.</strong> Those who were asked before did not give enough votes in time.</p>`;

function approvedBy({ decision, policy, precedent }: ApprovedState): Html {
  switch (decision.source) {
    case 'human':
      return html`<p><strong>Approved by ${names(decision.decidedBy)} at ${clockTime(decision.decidedAt)}${decision.word === 'edit' && ', with edited arguments'}.</strong></p>`;
    case 'policy':
      if (precedent)
        return html`<p><strong>The policy allows this without asking anybody: a person approved one like it before, in request ${precedent.requestId} (${policy.name}).</strong></p>`;
      return html`<p><strong>The policy allows this without asking anybody (${policy.name}).</strong></p>`;
    case 'timeout':
      return html`<p><strong>The time was over and nobody answered. The policy lets it run without an answer.</strong></p>`;
  }
}

function useOf(state: ApprovedState, now: Instant): Html {
  const { claim, outcome, claimBy, requestedBy } = state;
  const from = claimableAt(state);
  if (claim === undefined && from !== undefined && !isPast(from, now))
    return html`<p>Not used yet: it rests until ${clockTime(from)}, so that it can still be taken back; then ${named(requestedBy)} may run it once, until ${clockTime(claimBy)}.</p>`;
  if (claim === undefined)
    return html`<p>Not used yet: ${named(requestedBy)} may run it once, until ${clockTime(claimBy)}.</p>`;
  const started = html`${named(claim.claimedBy)} started it at ${clockTime(claim.claimedAt)}`;
  if (outcome === undefined || outcome.outcome === 'unknown')
    return html`<p>${started}; nobody has said how it ended.</p>`;
  return html`<p>${started}; it ${outcome.outcome} (${clockTime(outcome.reportedAt)}).</p>`;
}

/** A question about a step that has already run says nothing about whether it ran. */
const didNotRun = ({ phase }: RequestState): string => (phase === 'before' ? 'The action may not run.' : '');

const names = (people: readonly string[]) =>
  people.map((person, index) => html`${index > 0 && ' and '}${named(person)}`);

const textOf = (state: RequestState): string | undefined =>
  'decision' in state && state.decision.source === 'human' ? state.decision.textDigest : undefined;
