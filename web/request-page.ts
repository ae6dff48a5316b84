import { html } from 'hono/html';
import { canonicalJson } from '../core/canonical-json.ts';
import type { Instant } from '../core/instant.ts';
import type { JsonValue } from '../core/json.ts';
import type { StoredRequest } from '../core/ports.ts';
import type { Principal } from '../core/principal.ts';
import { countingApprovals, missingVotes, votesGiven } from '../core/quorum.ts';
import { type RenderedArgument, renderArguments, renderLine, renderValue } from '../core/render-value.ts';
import type { RequestState, Vote, VoteWord } from '../core/request.ts';
import { decisionForm, isOpenTo, type Typed } from './decision-form.ts';
import { type Html, layout } from './layout.ts';
import { resultBanner } from './result-banner.ts';
import { named, plainly, printed, shown } from './shown.ts';
import { clockTime, timeLeft } from './time.ts';
import { argumentsShown, mostRows, saidByAgent, wordsOf } from './what-runs.ts';

interface Refusal {
  title: string;
  detail: string;
}

export interface RequestPage {
  request: StoredRequest;
  person: Principal;
  now: Instant;
  /** Why the last answer was not taken. */
  refusal?: Refusal;
  typed?: Typed;
}

/** One request: exactly what will run first, the agent's own words last. */
export function requestPage({ request, person, now, refusal, typed = {} }: RequestPage): Html {
  const { state } = request;
  const args = argumentsShown(request);
  const rows = renderArguments(args);
  const editable = rows.length <= mostRows ? args : undefined;
  const kept = isOpenTo(state, person, now) ? typed : {};
  return layout({
    title: `${plainly(state.actionName)} · ${headlineOf(state.status)}`,
    person,
    main: html`${refusal && refusalNotice(refusal, typed, state, kept === typed)}
${resultBanner(request, now)}
<h1>${named(state.actionName)}</h1>
<p>${state.status === 'PENDING' && html`${timeLeft(state.deadline, now)} left, by ${clockTime(state.deadline)}, then ${whatSilenceMeans(state)}.`}
Asked by ${named(state.requestedBy)}${state.onBehalfOf !== undefined && html` for ${named(state.onBehalfOf)}`}${state.sourceAgent !== undefined && html`, from agent ${named(state.sourceAgent)}`}${state.targetAgent !== undefined && html`, to agent ${named(state.targetAgent)}`} at ${clockTime(state.requestedAt)}.</p>
<h2>${headingOf(state)}</h2>
${state.effectiveDigest !== state.argsDigest && html`<p class="notice">These are edited arguments, not those that the agent asked for.</p>`}
<dl class="arguments">${editable ? argumentRows(rows) : html`<div><dt>All arguments, in one piece</dt><dd class="value">${shown(canonicalJson(args))}</dd></div>`}</dl>
<h2>${state.status === 'PENDING' ? 'Why a person is asked' : 'What the policy says'}</h2>
<p class="words">${state.policy.name}: ${shown(state.policy.reason)}</p>
${state.policy.matched.map(({ ruleId, effect, reason }) => html`<p class="words">Rule ${ruleId}: ${effect}. ${shown(reason)}</p>`)}
<h2>Votes</h2>
${votes(request)}
${agentsWords(request)}
${decisionForm({ request, person, now, typed: kept, editable })}
${particulars(state)}`,
  });
}

function agentsWords(request: StoredRequest): Html | undefined {
  const { summary, result } = saidByAgent(request);
  if (summary === undefined && result === undefined) return undefined;
  return html`<details${request.state.status === 'PENDING' && html` open`}><summary>What the agent says (not checked)</summary>
${summary !== undefined && html`<p class="value">${shown(summary)}</p>`}
${result !== undefined && html`<p>What came of it: <span class="value">${printed(renderValue(result))}</span></p>`}</details>`;
}

/** Why an answer was not taken. Where no form holds it any more, what was typed stands here. */
function refusalNotice(refusal: Refusal, typed: Typed, state: RequestState, isInForm: boolean): Html {
  const { version, note, response, editedArgs } = typed;
  const lost = isInForm ? [] : [note, response, editedArgs].filter((text) => text !== undefined && text !== '');
  const isTold = isInForm || state.status !== 'PENDING';
  const hasChanged = isTold && version !== undefined && version !== String(state.version);
  return html`<section class="notice" role="alert"><p><strong>${refusal.title}.</strong></p>
<p class="words">${shown(refusal.detail)}</p>
${hasChanged && html`<p>The request changed while you read it. Below is how it stands now.</p>`}
${lost.map((text = '') => html`<p>What you typed: <span class="words">${shown(text)}</span></p>`)}</section>`;
}

const argumentRows = (rows: readonly RenderedArgument[]): Html | Html[] =>
  rows.length === 0
    ? html`<div><dt>No arguments</dt></div>`
    : rows.map(
        ({ label, value, parts }) =>
          html`<div><dt><span class="value">${printed(label)}</span> <span class="type">${kindOf(value)}</span></dt><dd class="value">${printed(parts)}</dd></div>`,
      );

function kindOf(value: JsonValue): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'empty list';
  if (typeof value === 'object') return 'empty object';
  if (typeof value === 'string') return value === '' ? 'empty text' : 'text';
  return typeof value === 'number' ? 'number' : 'true or false';
}

function votes(request: StoredRequest): Html {
  const { state } = request;
  const { given, needed } = votesGiven(state);
  const missing = missingVotes(state.approvals, countingApprovals(state)).map(
    ({ role, count }) => `${count} × ${role}`,
  );
  return html`<p>${given} of ${needed} approvals given.${state.status === 'PENDING' && missing.length > 0 && ` Still needed: ${missing.join(', ')}.`}</p>
${state.votes.length > 0 && html`<ul>${state.votes.map((vote) => voteRow(vote, request))}</ul>`}`;
}

function voteRow(vote: Vote, request: StoredRequest): Html {
  const { note } = wordsOf(request, vote.textDigest);
  const isVoid = vote.word === 'approve' && !countingApprovals(request.state).includes(vote);
  return html`<li>${named(vote.approver)} (${vote.roles.join(', ')}) ${did[vote.word]} at ${clockTime(vote.at)}${isVoid && ', void since the arguments were edited'}${note !== undefined && html`: <span class="value">${shown(note)}</span>`}</li>`;
}

const particulars = (state: RequestState): Html => html`<details><summary>Details</summary>
<p>Request <span class="value">${state.requestId}</span>, run <span class="value">${printed(renderLine(state.runId))}</span></p>
<p>Digest of the action <span class="value">${state.effectiveDigest}</span></p>
<p>Policy ${state.policy.name}, version <span class="value">${state.policy.version}</span></p>
</details>`;

const did: Readonly<Record<VoteWord, string>> = {
  approve: 'approved',
  reject: 'rejected',
  edit: 'edited the arguments',
  respond: 'answered instead',
};

function whatSilenceMeans({ policy, level, phase }: RequestState): string {
  const next = policy.escalateTo[level];
  if (policy.onTimeout === 'escalate' && next !== undefined) return `${next} is asked`;
  if (policy.onTimeout === 'proceed') return 'it is allowed without an answer';
  return phase === 'before' ? 'it may not run' : 'the run may not go on';
}

function headingOf(state: RequestState): string {
  if (state.phase === 'after') return 'What has run, exactly';
  if (state.status === 'PENDING') return 'What will run, exactly';
  if (state.status !== 'APPROVED') return 'What it was about, exactly';
  return state.claim === undefined ? 'What may run, exactly' : 'What was allowed to run, exactly';
}

function headlineOf(status: RequestState['status']): string {
  switch (status) {
    case 'PENDING':
      return 'to decide';
    case 'APPROVED':
      return 'approved';
    case 'REJECTED':
      return 'rejected';
    case 'RESPONDED':
      return 'answered';
    case 'TIMED_OUT':
      return 'time over';
    case 'CANCELLED':
      return 'cancelled';
    case 'REVOKED':
      return 'taken back';
  }
}
