import { html } from 'hono/html';
import { isPast } from '../core/deadline.ts';
import type { Instant } from '../core/instant.ts';
import type { JsonObject } from '../core/json.ts';
import type { StoredRequest } from '../core/ports.ts';
import { isCalled, type Principal } from '../core/principal.ts';
import { votesNeeded } from '../core/quorum.ts';
import type { RequestState } from '../core/request.ts';
import type { Html } from './layout.ts';
import { named } from './shown.ts';
import { editableJson } from './what-runs.ts';

/** What somebody typed before their answer was refused: it is given back to them. */
export interface Typed {
  /** The version of the request that the form showed. */
  version?: string;
  note?: string;
  response?: string;
  editedArgs?: string;
}

export interface FormInput {
  request: StoredRequest;
  person: Principal;
  now: Instant;
  typed: Typed;
  /** `undefined`: too large to be edited in a page. */
  editable: JsonObject | undefined;
}

/** What this person may do now: decide, only reject, take an approval back, or the sentence that says why nothing. */
export function decisionForm(input: FormInput): Html | undefined {
  const { request, person, now } = input;
  const { state } = request;
  if (state.status === 'APPROVED') return state.claim || isPast(state.claimBy, now) ? undefined : revocationForm(input);
  if (state.status !== 'PENDING' || isPast(state.deadline, now)) return undefined;
  if (!isOpenTo(state, person, now))
    return html`<p class="notice">You can read this, not decide it: it needs ${state.asked.join(' or ')}; you hold ${person.roles.join(', ') || 'no role'}.</p>`;
  const reason = whyOnlyReject(state, person);
  return reason === undefined ? fullForm(input) : rejectionForm(input, reason);
}

/** Whether this person still has a word in it: whoever approved may turn that into a rejection, also after an escalation. */
export function isOpenTo(state: RequestState, person: Principal, now: Instant): boolean {
  if (state.status !== 'PENDING' || isPast(state.deadline, now) || !person.scopes.includes('decide')) return false;
  const voted = state.votes.findLast((vote) => vote.approver === person.id);
  return voted?.word === 'approve' || person.roles.some((role) => state.asked.includes(role));
}

function whyOnlyReject(state: RequestState, person: Principal): string | undefined {
  if (isCalled(person, state.requestedBy)) return 'You asked for this, so your approval would not count.';
  if (state.onBehalfOf !== undefined && isCalled(person, state.onBehalfOf))
    return 'This is done on your behalf, so your approval would not count.';
  if (state.editors.includes(person.id)) return 'You edited the arguments, so others decide.';
  const approved = state.votes.some(
    ({ approver, word, argsDigest }) =>
      approver === person.id && word === 'approve' && argsDigest === state.effectiveDigest,
  );
  return approved ? 'You approved this; more votes are needed.' : undefined;
}

const fullForm = (input: FormInput): Html => html`<h2>Your decision</h2>
<form method="post" autocomplete="off" action="/r/${input.request.state.requestId}/decision">
${whatWasSeen(input.request.state)}
${noteField(input.typed, 'Note (needed to reject)')}
<button name="decision" value="approve" formnovalidate>Approve</button>
<button name="decision" value="reject">Reject</button>
<details${input.typed.response !== undefined && html` open`}>
<summary>Answer instead</summary>
<label for="response">What the agent gets instead of a result.${input.request.state.phase === 'before' && ' The action will not run.'}</label>
<textarea id="response" name="response">${afterNewline(input.typed.response)}</textarea>
<button name="decision" value="respond" formnovalidate>Send the answer</button>
</details>
${input.request.state.phase === 'before' && input.editable && editField(input.editable, input)}
</form>`;

const editField = (
  editable: JsonObject,
  { request, typed: { editedArgs } }: FormInput,
): Html => html`<details${editedArgs !== undefined && html` open`}>
<summary>Edit what will run</summary>
<label for="editedArgs">All arguments, as JSON. Only these will be allowed; votes for the old ones are void${votesNeeded(request.state.approvals) > 1 && ', and then others must approve; you cannot'}.</label>
<textarea class="code" id="editedArgs" name="editedArgs" spellcheck="false">${afterNewline(editedArgs ?? editableJson(editable))}</textarea>
<button name="decision" value="edit" formnovalidate>Send the edit</button>
</details>`;

const rejectionForm = ({ request, typed }: FormInput, reason: string): Html => html`<h2>Your decision</h2>
<p class="notice">${reason} You may still reject it.</p>
<form method="post" autocomplete="off" action="/r/${request.state.requestId}/decision">
${whatWasSeen(request.state)}
${noteField(typed, 'Note (needed)')}
<button name="decision" value="reject">Reject</button>
</form>`;

const revocationForm = ({ request, person, typed }: FormInput): Html | undefined =>
  person.scopes.includes('decide') && person.roles.length > 0
    ? html`<h2>Take it back</h2>
<form method="post" autocomplete="off" action="/r/${request.state.requestId}/revocation">
<p>As long as ${named(request.state.requestedBy)} has not used the approval, it can be taken back.</p>
<label for="note">Note (may stay empty)</label>
<textarea id="note" name="note">${afterNewline(typed.note)}</textarea>
<button>Take the approval back</button>
</form>`
    : undefined;

const whatWasSeen = ({ effectiveDigest, version }: RequestState): Html =>
  html`<input type="hidden" name="argsDigest" value="${effectiveDigest}"><input type="hidden" name="version" value="${version}">`;

const noteField = ({ note }: Typed, label: string): Html =>
  html`<label for="note">${label}</label><textarea id="note" name="note" required>${afterNewline(note)}</textarea>`;

/** HTML drops the first line break of a text area: one more keeps what was typed. */
const afterNewline = (text = ''): string => `\n${text}`;
