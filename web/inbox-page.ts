import { html } from 'hono/html';
import { isPast } from '../core/deadline.ts';
import type { Instant } from '../core/instant.ts';
import type { ListedRequest, Page } from '../core/ports.ts';
import { isCalled, type Principal } from '../core/principal.ts';
import { type Html, layout } from './layout.ts';
import { named } from './shown.ts';
import { clockTime, timeLeft } from './time.ts';

/** A page of what waits for one role. */
type Waiting = Page<ListedRequest> & { role: string };

export interface Inbox {
  person: Principal;
  now: Instant;
  waiting: readonly Waiting[];
}

/** What waits for me, the most urgent first. Rows are links: nobody votes on what they have not seen. */
export function inboxPage({ person, now, waiting }: Inbox): Html {
  const rows = mostUrgentFirst(waiting);
  const more = waiting.filter(({ cursor }) => cursor !== undefined);
  const title = person.roles.length === 0 ? 'You hold no role that decides' : headline(rows.length, more.length > 0);
  return layout({
    title,
    person,
    main: html`<h1>${title}</h1>
${person.roles.length === 0 && html`<p>Roles come from your sign-in. Ask whoever runs it if you should have one.</p>`}
${rows.length > 0 && html`<ul class="inbox">${rows.map((row) => inboxRow(row, person, now))}</ul>`}
${more.map(({ role, cursor }) => html`<p><a href="/?${new URLSearchParams({ role, cursor: cursor ?? '' }).toString()}">Later ones for ${role}</a></p>`)}`,
  });
}

function headline(count: number, isCut: boolean): string {
  if (isCut) return `${count} or more wait for you`;
  return count === 0 ? 'Nothing waits for you' : count === 1 ? '1 waits for you' : `${count} wait for you`;
}

function mostUrgentFirst(waiting: readonly Waiting[]): ListedRequest[] {
  const byId = new Map(waiting.flatMap(({ items }) => items).map((item) => [item.requestId, item]));
  return [...byId.values()].sort((one, other) => (one.deadline < other.deadline ? -1 : 1));
}

const inboxRow = (row: ListedRequest, person: Principal, now: Instant): Html =>
  html`<li><a href="/r/${row.requestId}"><span class="name">${named(row.actionName)}</span>
<span>${untilWhen(row.deadline, now)} · asked by ${named(row.requestedBy)}${row.onBehalfOf !== undefined && html` for ${named(row.onBehalfOf)}`}${row.level > 0 && html` · escalated, level ${row.level}`}${isOwn(row, person) && html` · yours: you may only reject it`}</span></a></li>`;

const untilWhen = (deadline: Instant, now: Instant): string =>
  isPast(deadline, now)
    ? `the time was over at ${clockTime(deadline)}`
    : `${timeLeft(deadline, now)} left, by ${clockTime(deadline)}`;

const isOwn = ({ requestedBy, onBehalfOf }: ListedRequest, person: Principal): boolean =>
  [requestedBy, onBehalfOf].some((name) => name !== undefined && isCalled(person, name));
