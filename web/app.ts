import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { CountersignError, type ErrorCode } from '../core/errors.ts';
import type { JsonValue } from '../core/json.ts';
import type { Policies, RequestLists, RequestStore, World } from '../core/ports.ts';
import type { Principal } from '../core/principal.ts';
import type { Acting } from '../core/use-cases/change-request.ts';
import { decideRequest } from '../core/use-cases/decide-request.ts';
import { listRequests } from '../core/use-cases/list-requests.ts';
import { readRequestFor } from '../core/use-cases/read-request.ts';
import { revokeApproval } from '../core/use-cases/revoke-approval.ts';
import { decisionBodyOf, type Fields, revocationBodyOf, typedIn } from './decision-body.ts';
import { ownFormsOnly, protect } from './headers.ts';
import { inboxPage } from './inbox-page.ts';
import { type Html, messagePage } from './layout.ts';
import { type RequestPage, requestPage } from './request-page.ts';
import { sessionToken } from './session-cookie.ts';
import { type ReadSession, type SignIn, signInAddress, signInRoutes } from './sign-in-routes.ts';
import { icon, style } from './style.ts';

export interface Pages {
  webUrl: string;
  issuer: string;
  ports: { store: RequestStore & RequestLists; policies: Policies; world: World };
  signIn: SignIn;
  readSession: ReadSession;
  /** Status and title of each refusal. */
  problems: Readonly<Record<ErrorCode, { status: number; title: string }>>;
  /** Until when (epoch milliseconds) this call may try again. */
  until(context: Context): number;
  /** Logs what should never happen; answers a reference for the person to name. */
  report(error: unknown, context: Context): string;
}

/** Every route is for somebody signed in; only these are not. */
interface Seat {
  Variables: { person: Principal };
}

/** The approver's seat: rendered on the server, nothing changes but by a POST of a signed-in person from our own form. */
export function pages(seat: Pages): Hono<Seat> {
  const { ports, problems } = seat;
  const app = new Hono<Seat>();

  const page = async (context: Context, content: Html, status = 200): Promise<Response> => {
    const text = String(await content);
    if (text.length * 3 > largestAnswer && new TextEncoder().encode(text).length > largestAnswer)
      return page(context, tooMuch(), 413);
    return context.body(text, status as 200, { 'content-type': 'text/html; charset=UTF-8' });
  };

  const waitingFor = (principal: Principal, role: string, cursor: string | undefined) =>
    listRequests(ports, { principal, query: { status: 'PENDING', role, ...(cursor !== undefined && { cursor }) } });

  app.use(...protect(seat.issuer), ownFormsOnly(seat.webUrl));
  app.get('/assets/style.css', (context) =>
    context.body(style, 200, { 'content-type': 'text/css; charset=UTF-8', 'cache-control': 'max-age=3600' }),
  );
  app.get('/assets/icon.svg', (context) =>
    context.body(icon, 200, { 'content-type': 'image/svg+xml', 'cache-control': 'max-age=3600' }),
  );
  app.route('/', signInRoutes(seat.signIn, seat.readSession));

  app.use('/', requirePerson);
  app.use('/r/*', requirePerson);

  app.get('/', async (context) => {
    const person = context.get('person');
    const { role, cursor } = context.req.query();
    const roles = role === undefined ? person.roles : person.roles.filter((held) => held === role);
    const waiting = await Promise.all(
      roles.map(async (held) => ({ ...(await waitingFor(person, held, cursor)), role: held })),
    );
    return page(context, inboxPage({ person, now: ports.world.now(), waiting }));
  });

  app.get('/r/:requestId', async (context) => {
    const person = context.get('person');
    return page(context, await shownRequest(context.req.param('requestId'), { person }));
  });

  app.post('/r/:requestId/decision', (context) => act(context, decideRequest, decisionBodyOf));
  app.post('/r/:requestId/revocation', (context) => act(context, revokeApproval, revocationBodyOf));

  app.notFound((context) => page(context, nothingHere(), 404));

  app.onError((error, context) => {
    if (error instanceof HTTPException) return page(context, fromElsewhere(), 403);
    if (error instanceof CountersignError) return page(context, refused(error, context), problems[error.code].status);
    return page(context, trouble(seat.report(error, context)), 500);
  });

  return app;

  async function requirePerson(context: Context<Seat>, next: () => Promise<void>) {
    const token = sessionToken(context);
    const person = token === undefined ? undefined : await seat.readSession(token);
    if (person !== undefined) {
      context.set('person', person);
      return next();
    }
    const { pathname, search } = new URL(context.req.url);
    if (context.req.method === 'GET') return context.redirect(signInAddress(pathname + search), 303);
    return page(context, signedOut(pathname, (await fieldsOf(context)).note), 401);
  }

  async function shownRequest(requestId: string, view: Omit<RequestPage, 'request' | 'now'>): Promise<Html> {
    const request = await readRequestFor(ports, { requestId, principal: view.person });
    return requestPage({ ...view, request, now: ports.world.now() });
  }

  type Act = (ports: Pages['ports'], acting: Acting) => Promise<unknown>;

  /** Sends what a form says to a use case. Refused: the same page as it is now, with the reason and what was typed. */
  async function act(context: Context<Seat>, useCase: Act, bodyOf: (fields: Fields) => JsonValue) {
    const person = context.get('person');
    const requestId = context.req.param('requestId') ?? '';
    const fields = await fieldsOf(context);
    try {
      await useCase(ports, { requestId, body: bodyOf(fields), principal: person, until: seat.until(context) });
    } catch (error) {
      if (!(error instanceof CountersignError)) throw error;
      const { status, title } = problems[error.code];
      const refusal = { title, detail: error.message };
      return page(context, await shownRequest(requestId, { person, refusal, typed: typedIn(fields) }), status);
    }
    return context.redirect(`/r/${encodeURIComponent(requestId)}`, 303);
  }

  function refused(error: CountersignError, context: Context<Seat>): Html {
    const { title } = problems[error.code];
    const person = context.get('person');
    const { pathname } = new URL(context.req.url);
    const back = person === undefined ? '/' : pageOf(pathname);
    const again = { href: signInAddress(back, true), text: 'Sign in as somebody else' };
    return messagePage({ title, detail: error.message, person, links: [{ href: '/', text: 'Inbox' }, again] });
  }
}

/** The fields of a form. Anything but an urlencoded form is refused: browsers send nothing else from our pages. */
async function fieldsOf(context: Context): Promise<Fields> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(context.req.header('content-type') ?? ''))
    throw new CountersignError('UNSUPPORTED_MEDIA_TYPE', 'A page takes the fields of its own form and nothing else.');
  return Object.fromEntries(new URLSearchParams(await context.req.text()));
}

/** The page whose form leads to this path. */
const pageOf = (pathname: string): string => pathname.replace(/\/(decision|revocation)$/, '');

/** Lambda hands on six megabytes. */
const largestAnswer = 5_500_000;

const tooMuch = (): Html =>
  messagePage({
    title: 'Too much for a page',
    detail: 'Made visible, this request is larger than a page can be. Read and decide it over the API.',
    links: [{ href: '/', text: 'Inbox' }],
  });

const nothingHere = (): Html =>
  messagePage({ title: 'Not found', detail: 'There is no such page.', links: [{ href: '/', text: 'Inbox' }] });

const fromElsewhere = (): Html =>
  messagePage({
    title: 'This form did not come from this site',
    detail: 'Nothing was sent.',
    links: [{ href: '/', text: 'Inbox' }],
  });

const trouble = (reference: string): Html =>
  messagePage({
    title: 'A fault of the service',
    detail: `Load the page again to see how things stand; reference ${reference}.`,
    links: [{ href: '/', text: 'Inbox' }],
  });

const signedOut = (pathname: string, note = ''): Html =>
  messagePage({
    title: 'You were signed out',
    detail: `Nothing was sent.${note === '' ? '' : ` What you typed: ${note}`}`,
    links: [{ href: signInAddress(pageOf(pathname)), text: 'Sign in and come back' }],
  });
