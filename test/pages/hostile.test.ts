import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { email, newRun, refund } from '../service/harness.ts';
import { press, stageForTests, wordsOf } from './browser.ts';

const stage = stageForTests();
const asked = async (body: object) => (await stage.front.ask({ runId: newRun(), ...body })).body;
const stateOf = async (requestId: string) => (await stage.front.get(requestId)).body;

test('case 38: a mail scanner that reads, follows links, runs scripts and presses the first button changes nothing and gets no session', async () => {
  const { requestId, runId } = await asked(refund(240));
  await stage.front.messages(requestId, 3);
  const before = await stateOf(requestId);
  const link = `${stage.front.urls.webUrl}/r/${requestId}`;

  for (const method of ['HEAD', 'GET', 'GET']) await fetch(link, { method });
  const { page } = await stage.seat();
  for (let times = 0; times < 2; times++) {
    await page.goto(link);
    expect(await page.title()).toBe('Who are you?');
    const links = await page.locator('a[href]').all();
    for (const href of await Promise.all(links.map((one) => one.getAttribute('href'))))
      await fetch(new URL(href ?? '', page.url()));
    await page.locator('button').first().click();
    expect(await page.locator('input[name="who"]:invalid').count()).toBeGreaterThan(0);
    await page.goto(`${stage.front.urls.webUrl}/sign-in/callback?code=x&state=y`);
  }
  await page.goto(link);
  const form = (await page.locator('form').getAttribute('action')) ?? '';
  const unchosen = await page.context().request.post(new URL(form, page.url()).href, { form: {}, maxRedirects: 0 });
  expect(unchosen.status()).toBe(400);

  expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('__Host-countersign');
  expect(await stateOf(requestId)).toEqual(before);
  expect((await stage.front.audit(runId)).body.items).toHaveLength(1);
});

/** What an attacker would have an approver see, or not see. */
const payload = `</p></textarea></title><a href=//evil.example>Approve</a><script>alert(1)</script><img src=x onerror=alert(2)>[Approve](//evil.example) javascript:alert(3)\u202e\u200b\u{e0100}${' '.repeat(5000)}\u001b[31m"'`;
const short = payload.replace(' '.repeat(5000), '   ');

test('case 43: hostile text in every field is inert and visible, in every page that shows it', async () => {
  const action = {
    actionName: short.slice(40, 240),
    actionArgs: { [payload]: payload, list: [payload, { [short]: short }], escaped: payload.replaceAll('<', '&lt;') },
    sourceAgent: short.slice(0, 100),
    targetAgent: short.slice(0, 100),
  };
  const more = {
    contextSummary: payload,
    onBehalfOf: short.slice(0, 100),
    metadata: { [short]: short },
  };
  const { requestId, ...problem } = await asked({ ...action, ...more });
  expect(problem).toMatchObject({ status: 'PENDING' });
  const page = await stage.as('alice', `/r/${requestId}`, { viewport: { width: 390, height: 844 } });
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(stage.front.urls.webUrl)) elsewhere.push(request.url());
  });
  await showsInert(page, ['U+202E', 'U+200B', 'U+E0100', 'U+001B', 'SPACE ×5000']);
  expect(await wordsOf(page)).toMatch(/from agent [\s\S]+, to agent /);
  expect(await page.locator('.arguments').textContent()).toContain('<script>alert(1)</script>');

  await page.getByText('Edit what will run').click();
  const field = page.getByLabel('All arguments, as JSON.');
  const typed = await field.inputValue();
  expect(typed).toMatch(/^[ -~\n]*$/);
  expect(JSON.parse(typed)).toEqual(action.actionArgs);
  await field.fill(`${payload} {`);
  await page.getByLabel('Note').fill(payload);
  await press(page, 'Send the edit');
  expect(await field.inputValue()).toBe(`${payload} {`);
  await showsInert(page, ['U+202E']);

  await page.goto(`${stage.front.urls.webUrl}/`);
  await showsInert(page, ['U+202E', 'U+200B']);
  await page.goto(`${stage.front.urls.webUrl}/r/${requestId}`);
  await page.getByLabel('Note').fill(payload);
  await page.getByText('Answer instead').click();
  await page.getByLabel('What the agent gets').fill(payload);
  await press(page, 'Send the answer');
  await showsInert(page, ['U+202E', 'SPACE ×5000']);
  expect((await stateOf(requestId)).decision).toMatchObject({ note: payload, response: payload });
  expect(elsewhere).toEqual([]);

  await stage.front.messages(requestId, 2);
  await page.goto(stage.front.urls.mailboxUrl);
  expect(await page.locator('script, img, iframe, object, form').count()).toBe(0);
  expect(await page.locator('a[href*="evil"]').count()).toBe(0);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(await page.locator('article').allTextContents()).toEqual(
    expect.arrayContaining([expect.stringContaining('[U+202E]')]),
  );
});

/** Nothing that runs, leads away, hides or sticks out; and what cannot be seen stands as a mark. */
async function showsInert(page: Page, marks: readonly string[]): Promise<void> {
  expect(await page.locator('script, img, iframe, object, embed, base, style, [style], meta[http-equiv]').count()).toBe(
    0,
  );
  expect(
    await page.evaluate(
      `[...document.querySelectorAll('*')].flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith('on'))`,
    ),
  ).toEqual([]);
  const leads = (await page.evaluate(
    `[...document.querySelectorAll('a, form, link')].map((element) => new URL(element.getAttribute('href') ?? element.getAttribute('action'), location.href).origin)`,
  )) as string[];
  expect([...new Set(leads)]).toEqual([new URL(stage.front.urls.webUrl).origin]);
  const shown = await wordsOf(page);
  for (const unseen of ['\u202e', '\u200b', '\u{e0100}', '\u001b', '    ']) expect(shown).not.toContain(unseen);
  const marked = await page.locator('mark').allTextContents();
  expect(marked).toEqual(expect.arrayContaining(marks.map((mark) => `‹${mark}›`)));
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
}

test.each([
  ['on another port of this host (the same site: cookies go along)', 'localhost', true],
  ['on another site', '127.0.0.1', false],
])('case 46: a page %s can frame, post and fetch as it likes: no decision', async (_where, host, cookiesGoAlong) => {
  const request = await asked(email());
  const { requestId } = request;
  const { webUrl } = stage.front.urls;
  const fields = { argsDigest: request.effectiveDigest, decision: 'approve', version: String(request.version) };
  const inputs = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`);
  const attack = `<!doctype html><title>evil</title><iframe src="${webUrl}/r/${requestId}"></iframe>
<form method="post" action="${webUrl}/r/${requestId}/decision">${inputs.join('')}<button>Win a prize</button></form>`;
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(attack));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  try {
    const evil = `http://${host}:${(server.address() as AddressInfo).port}`;
    expect(evil).not.toBe(webUrl);
    const { page, complaints } = await stage.seatOf('alice');
    const posts = await watchPosts(page);
    await page.goto(evil);
    const frame = page.frames()[1];
    expect(await frame?.content()).not.toContain('send_customer_email');
    expect(complaints.splice(0).join()).toMatch(/frame-ancestors|X-Frame-Options/i);

    const target = JSON.stringify(`${webUrl}/r/${requestId}/decision`);
    const body = JSON.stringify(new URLSearchParams(fields).toString());
    for (const mode of ['no-cors', 'cors'])
      await page.evaluate(
        `fetch(${target}, { method: 'POST', mode: '${mode}', credentials: 'include', body: ${body}, headers: { 'content-type': 'application/x-www-form-urlencoded' } }).catch(() => {})`,
      );
    complaints.splice(0);
    expect(await stateOf(requestId)).toMatchObject({ status: 'PENDING', votes: [], version: request.version });

    await press(page, 'Win a prize');
    expect(page.url()).toBe(`${webUrl}/r/${requestId}/decision`);
    expect(await wordsOf(page)).toContain('This form did not come from this site');
    expect(await stateOf(requestId)).toMatchObject({ status: 'PENDING', votes: [], version: request.version });

    await expect.poll(posts).toEqual(Array.from({ length: 3 }, () => ({ status: 403, withSession: cookiesGoAlong })));
    await page.goto(`${webUrl}/r/${requestId}`);
    await press(page, 'Approve');
    expect(await stateOf(requestId)).toMatchObject({ status: 'APPROVED', decision: { decidedBy: ['alice'] } });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

/** What really went to the service and came back, also where the browser keeps the answer from the page. */
async function watchPosts(page: Page): Promise<() => { status?: number; withSession?: boolean }[]> {
  const seen = new Map<string, { isPost?: boolean; status?: number; withSession?: boolean }>();
  const note = (id: string, more: object) => seen.set(id, { ...seen.get(id), ...more });
  const devTools = await page.context().newCDPSession(page);
  devTools.on('Network.requestWillBeSent', ({ requestId, request }) =>
    note(requestId, { isPost: request.method === 'POST' }),
  );
  devTools.on('Network.requestWillBeSentExtraInfo', ({ requestId, headers }) =>
    note(requestId, { withSession: (headers.Cookie ?? headers.cookie ?? '').includes('__Host-countersign=') }),
  );
  devTools.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) =>
    note(requestId, { status: statusCode }),
  );
  await devTools.send('Network.enable');
  return () => [...seen.values()].filter(({ isPost }) => isPost).map(({ isPost: _isPost, ...post }) => post);
}

test('case 48: a secret of the policy is in no page, whatever becomes of the request, and an edit keeps it', async () => {
  const secret = '4111111111111111';
  const action = refund(240);
  const withSecret = { ...action, actionArgs: { ...action.actionArgs, card: { number: secret } } };
  const { requestId } = await asked({ ...withSecret, contextSummary: 'Card on file.' });
  const seen: string[] = [];
  const alice = await stage.as('alice', `/r/${requestId}`);
  const bob = await stage.as('bob', `/r/${requestId}`);
  const look = async (page: Page) => seen.push(await page.content());
  await look(alice);
  expect(await alice.locator('.arguments').textContent()).toContain('[hidden by policy, 16 characters]');
  await alice.getByText('Edit what will run').click();
  const field = alice.getByLabel('All arguments, as JSON.');
  expect(await field.inputValue()).toContain('[hidden by policy, 16 characters]');
  const edited = (await field.inputValue()).replace('240', '24');
  await field.fill(`${edited},`);
  await press(alice, 'Send the edit');
  await look(alice);
  await field.fill(edited);
  await press(alice, 'Send the edit');
  await look(alice);
  await bob.goto(`${stage.front.urls.webUrl}/`);
  await look(bob);
  await bob.goto(`${stage.front.urls.webUrl}/r/${requestId}`);
  await bob.getByLabel('Note').fill('no');
  await press(bob, 'Reject');
  await look(bob);
  await stage.front.messages(requestId, 3);
  await bob.goto(stage.front.urls.mailboxUrl);
  await look(bob);
  expect(seen).toHaveLength(6);
  for (const html of seen) expect(html).not.toContain(secret);
  expect((await stateOf(requestId)).effectiveArgs).toEqual({ ...withSecret.actionArgs, amount: 24 });
});

test('what a page may not do is seen: a foreign image, and markup from a script', async () => {
  const { page, complaints } = await stage.seatOf('alice');
  await page.goto(stage.front.urls.webUrl);
  await page.evaluate(
    `document.body.append(Object.assign(document.createElement('img'), { src: 'http://127.0.0.1:9/x' }))`,
  );
  await expect.poll(() => complaints.splice(0).join()).toContain('Content Security Policy');
  const markup = page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<b>x</b>')`);
  await expect(markup).rejects.toThrow('TrustedHTML');
  complaints.splice(0);
});
