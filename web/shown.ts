import { html } from 'hono/html';
import { type Part, printText, renderLine, renderText } from '../core/render-value.ts';
import type { Html } from './layout.ts';

/** What cannot be seen stands as a mark, so that it is seen. Text only: never markup, never a link. */
export const printed = (parts: readonly Part[]): (string | Html)[] =>
  parts.map(({ kind, text }) => (kind === 'mark' ? html`<mark>‹${text}›</mark>` : text));

/** Whatever an agent or a person wrote. */
export const shown = (text: string): (string | Html)[] => printed(renderText(text));

/** A name within our own sentence: it stays on its line, and its direction is its own. */
export const named = (text: string): Html => html`<bdi>${printed(renderLine(text))}</bdi>`;

/** The same where markup is impossible (the title of a page). */
export const plainly = (text: string): string => printText(renderText(text), ['‹', '›']);
