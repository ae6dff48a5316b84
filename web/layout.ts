import { html } from 'hono/html';
import type { Principal } from '../core/principal.ts';
import { named, shown } from './shown.ts';

/** Markup that `html` has escaped. */
export type Html = ReturnType<typeof html>;

/** The frame of every page: no script, no inline style, nothing from elsewhere. */
export const layout = ({ title, person, main }: { title: string; person?: Principal | undefined; main: Html }): Html =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Countersign</title>
<link rel="stylesheet" href="/assets/style.css">
<link rel="icon" href="/assets/icon.svg">
</head>
<body>
<header>
<a href="/">Inbox</a>
${person && html`<span>Signed in as ${named(person.id)}</span><form method="post" action="/sign-out"><button>Sign out</button></form>`}
</header>
<main>${main}</main>
</body>
</html>`;

/** A page that says one thing and where to go next. */
export const messagePage = (message: {
  title: string;
  detail: string;
  person?: Principal | undefined;
  links?: readonly { href: string; text: string }[];
}): Html =>
  layout({
    title: message.title,
    person: message.person,
    main: html`<h1>${message.title}</h1>
<p class="words">${shown(message.detail)}</p>
${(message.links ?? []).map(({ href, text }) => html`<p><a href="${href}">${text}</a></p>`)}`,
  });
