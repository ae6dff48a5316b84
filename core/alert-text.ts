import { type AlertFacts, alertFacts, dayOf, timeOf } from './alert-facts.ts';
import { mailText } from './alert-mail.ts';
import { smsText } from './alert-sms.ts';
import type { AlertMessage, StoredRequest } from './ports.ts';
import { renderLine } from './render-value.ts';
import type { Owed } from './request.ts';

/**
 * The texts of one alert, for any request: subject, mail and SMS fit what SNS takes. Secrets are masked, what cannot be
 * seen is marked, what does not fit is left out with a visible mark, and the link is whole. `webUrl` has no slash at
 * its end; the SMS keeps to its 148 septets as long as the link does (`webUrl` of at most 123 characters).
 */
export function alertFor({
  request,
  deliveryId,
  owed,
  webUrl,
}: {
  request: StoredRequest;
  deliveryId: string;
  owed: Owed;
  webUrl: string;
}): AlertMessage {
  const facts = alertFacts(request, owed, webUrl);
  const { requestId } = request.state;
  return {
    id: `${requestId}/${deliveryId}`,
    requestId,
    kind: owed.kind,
    role: owed.role,
    level: owed.level,
    subject: subjectOf(facts),
    email: mailText(facts),
    sms: smsText(facts),
  };
}

const longestSubject = 99;

/** The same for all mails of a request but for the first word, so that mail programs keep them together. */
function subjectOf({ state, owed, action, isAsked }: AlertFacts): string {
  const kind = isAsked ? { asked: 'Decide', escalated: 'Escalated' }[owed.kind] : 'Closed';
  const by = ` by ${dayOf(state.deadline)} ${timeOf(state.deadline)}`;
  return `${kind}: ${cutInTheMiddle(asciiOf(action.actionName), longestSubject - `${kind}: ${by}`.length)}${by}`;
}

const asciiOf = (name: string): string =>
  renderLine(name)
    .map(({ kind, text }) => (kind === 'mark' ? `[${text.replace('×', 'x')}]` : text.replace(/[^ -~]/gu, escaped)))
    .join('');

const escaped = (character: string): string =>
  `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;

function cutInTheMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 2) / 2);
  return `${text.slice(0, head)}..${text.slice(text.length - (most - 2 - head))}`;
}
