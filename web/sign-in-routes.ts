import { Hono } from 'hono';
import * as z from 'zod';
import { CountersignError } from '../core/errors.ts';
import type { Principal } from '../core/principal.ts';
import { messagePage } from './layout.ts';
import { dropPending, dropSession, keepPending, keepSession, pendingText } from './session-cookie.ts';

const pendingSignIn = z.strictObject({ state: z.string().min(1), verifier: z.string().min(1), returnTo: z.string() });
type Pending = z.infer<typeof pendingSignIn>;

/** What the pages need of an identity provider. */
export interface SignIn {
  begin(returnTo: string, again: boolean): Promise<{ address: string; pending: Pending }>;
  finish(query: string, pending: Pending): Promise<{ token: string; seconds: number }>;
}

export type ReadSession = (token: string) => Promise<Principal | undefined>;

const nowhere = 'https://countersign.invalid';

/** A path of this site and nothing else; whatever could lead away leads to the inbox. */
export function localPath(path: string | undefined): string {
  if (path === undefined || !path.startsWith('/') || !URL.canParse(path, nowhere)) return '/';
  const { origin, pathname, search } = new URL(path, nowhere);
  return origin === nowhere && !pathname.startsWith('//') ? pathname + search : '/';
}

export const signInAddress = (returnTo: string, again = false): string =>
  `/sign-in?${new URLSearchParams({ return: returnTo, ...(again && { again: '1' }) })}`;

/** In and out. Signing in changes nothing but the browser's own cookies. */
export function signInRoutes(signIn: SignIn, readSession: ReadSession): Hono {
  const routes = new Hono();

  routes.get('/sign-in', async (context) => {
    const returnTo = localPath(context.req.query('return'));
    const { address, pending } = await signIn.begin(returnTo, context.req.query('again') === '1');
    keepPending(context, pending);
    return context.redirect(address, 303);
  });

  routes.get('/sign-in/callback', async (context) => {
    const pending = pendingSignIn.safeParse(parsed(pendingText(context)));
    dropPending(context);
    if (!pending.success)
      throw new CountersignError('UNAUTHENTICATED', 'This sign-in was not begun in this browser, or too long ago.');
    const { token, seconds } = await signIn.finish(new URL(context.req.url).search, pending.data);
    if ((await readSession(token)) === undefined)
      throw new CountersignError(
        'FORBIDDEN',
        'You are signed in, but not as somebody who decides here or audits: the token names no such scope.',
      );
    keepSession(context, token, seconds);
    return context.redirect(localPath(pending.data.returnTo), 303);
  });

  routes.post('/sign-out', (context) => {
    dropSession(context);
    const links = [{ href: signInAddress('/', true), text: 'Sign in' }];
    return context.html(messagePage({ title: 'You are signed out', detail: 'Nothing of you is kept here.', links }));
  });

  return routes;
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
