import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { CountersignError } from '../core/errors.ts';

/** `Lax`, not `Strict`: whoever comes from their web mail by a link must not look signed out. */
const attributes = { prefix: 'host', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' } as const;
const session = 'countersign';
const signIn = 'countersign-sign-in';
/** Browsers drop a larger cookie without a word, and the person would be sent round and round. */
const mostCharacters = 3800;
const signInSeconds = 600;

export const sessionToken = (context: Context): string | undefined => getCookie(context, session, 'host');

export function keepSession(context: Context, token: string, seconds: number): void {
  if (token.length > mostCharacters)
    throw new CountersignError(
      'UNAUTHENTICATED',
      `The token of this sign-in has ${token.length} characters; a cookie holds at most ${mostCharacters}. Fewer roles make it shorter.`,
    );
  setCookie(context, session, token, { ...attributes, maxAge: Math.max(0, Math.floor(seconds)) });
}

export const dropSession = (context: Context): void => void deleteCookie(context, session, attributes);

export const keepPending = (context: Context, pending: object): void =>
  setCookie(context, signIn, JSON.stringify(pending), { ...attributes, maxAge: signInSeconds });

export const pendingText = (context: Context): string | undefined => getCookie(context, signIn, 'host');

export const dropPending = (context: Context): void => void deleteCookie(context, signIn, attributes);
