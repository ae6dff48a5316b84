import { html, raw } from 'hono/html';
import type { Person } from './identities.ts';

const style = `:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 30rem; margin: 4rem auto; padding: 0 1rem }
label { display: flex; gap: .75rem; align-items: center; border: 1px solid #888; padding: .75rem 1rem; margin: .5rem 0; cursor: pointer }
input { width: 1.5rem; height: 1.5rem; flex: none; margin: 0 }
button { font: inherit; min-height: 2.75rem; padding: .5rem 1.5rem; margin: .5rem 0; cursor: pointer }`;

async function page(title: string, body: unknown): Promise<string> {
  return String(
    await html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${raw(style)}</style></head>
<body><h1>${title}</h1>${body}</body>
</html>`,
  );
}

/** No password, but nobody is chosen beforehand: a mail scanner that presses what it finds is nobody. */
export const choicePage = (uid: string, people: readonly Person[]): Promise<string> =>
  page(
    'Who are you?',
    html`<p>This is the local service: choose whom you sign in as.</p>
<form method="post" action="/interaction/${uid}" autocomplete="off">
${people.map(
  ({ name, roles, scopes }) =>
    html`<label><input type="radio" name="who" value="${name}" required><span><strong>${name}</strong> ${[...roles, ...scopes].join(', ')}</span></label>`,
)}
<button>Sign in</button>
</form>`,
  );

export const failurePage = (reason: string): Promise<string> =>
  page('Signing in did not work', html`<p>${reason}</p><p>Go back to where you came from and sign in again.</p>`);
