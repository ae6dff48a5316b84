import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { audience, rolesClaim, scopePrefix } from '../../local/identities.ts';
import { email, newRun, refund } from '../service/harness.ts';
import { chooseIdentity, press, stageForTests, wordsOf } from './browser.ts';

const stage = stageForTests();
const asked = async (body: object) => (await stage.front.ask({ runId: newRun(), ...body })).body;
const formsOf = (page: Page) => page.locator('main form').count();

test('case 39: a request that others decided shows what happened, and no form', async () => {
  const [rejected, cancelled, used] = [await asked(email()), await asked(email()), await asked(email())];
  await stage.front.reject(rejected.requestId, 'frank', 'wrong customer');
  await stage.front.cancel(cancelled.requestId);
  await stage.front.approve(used, 'frank');
  await stage.front.claim(used.requestId, { claimId: 'c', ...email() });
  await stage.front.outcome(used.requestId, { claimId: 'c', outcome: 'failed' });

  const page = await stage.as('alice', `/r/${rejected.requestId}`);
  expect(await wordsOf(page)).toMatch(
    /frank rejected this at .+ UTC\. The action may not run\.\s+Note: wrong customer/,
  );
  expect([await formsOf(page), await page.title()]).toEqual([0, 'send_customer_email · rejected · Countersign']);
  await page.goto(`${stage.front.urls.webUrl}/r/${cancelled.requestId}`);
  expect(await wordsOf(page)).toMatch(/support-bot no longer needs this \(.+ UTC\)\. There is nothing to decide\./);
  expect(await formsOf(page)).toBe(0);
  await page.goto(`${stage.front.urls.webUrl}/r/${used.requestId}`);
  expect(await wordsOf(page)).toMatch(/Approved by frank at .+\s+support-bot started it at .+; it failed/);
  expect(await formsOf(page)).toBe(0);
  for (const { requestId } of [rejected, cancelled, used])
    expect(await page.goto(`${stage.front.urls.webUrl}/`).then(() => wordsOf(page))).not.toContain(requestId);
});

test('cases 36, 39: when the time is over the page says so, before and after the sweep, and never that a person refused', async () => {
  const { requestId } = await asked(email());
  await stage.front.clock(1801);
  const page = await stage.as('alice', `/r/${requestId}`);
  expect(await wordsOf(page)).toMatch(/^The time was over at .+ UTC\. No answer counts any more/);
  expect(await formsOf(page)).toBe(0);

  await stage.front.sweep();
  expect((await stage.front.get(requestId)).body).toMatchObject({ status: 'TIMED_OUT', decision: { decidedBy: [] } });
  await page.reload();
  expect(await wordsOf(page)).toMatch(/^The time was over at .+ UTC\. Nobody answered; this is not a rejection\./);
  expect(await page.title()).toContain('time over');
  const withoutTheSentence = (await page.content()).replace('this is not a rejection', '');
  expect(withoutTheSentence).not.toMatch(/reject|refus|denied|declined/i);
  expect(await formsOf(page)).toBe(0);
});

test('a form that was open when the time ran out is answered with what happened and what was typed', async () => {
  const { requestId } = await asked(email());
  const page = await stage.as('alice', `/r/${requestId}`);
  await page.getByLabel('Note').fill('checked with Ada');
  await stage.front.clock(1801);
  await press(page, 'Approve');
  expect(await wordsOf(page, page.getByRole('alert'))).toMatch(
    /time for this was over[\s\S]+What you typed: checked with Ada/,
  );
  expect((await stage.front.get(requestId)).body.votes).toEqual([]);
});

test('case 39: an escalated request tells those who were asked before who is asked now, without a form', async () => {
  const { requestId } = await asked(refund(240));
  await stage.front.clock(7201);
  await stage.front.sweep();
  const bob = await stage.as('bob', `/r/${requestId}`);
  const words = await wordsOf(bob);
  expect(words).toMatch(/^Now senior_manager is asked, until .+ UTC\./);
  expect(words).toContain('You can read this, not decide it: it needs senior_manager; you hold support_manager.');
  expect(await formsOf(bob)).toBe(0);

  const carol = await stage.as('carol', '/');
  expect(await wordsOf(carol)).toContain('escalated, level 1');
  await carol.getByRole('link', { name: 'issue_refund' }).click();
  expect(await wordsOf(carol)).toContain('2 × senior_manager');
  expect(await carol.getByRole('button', { name: 'Approve' }).count()).toBe(1);
});

test('the inbox names what waits for me, the most urgent first; a row leads to its request', async () => {
  const [slow, soon] = [await asked(refund(11)), await asked(email())];
  const alice = await stage.as('alice', '/');
  const rows = await alice.locator('ul.inbox a').all();
  const paths = await Promise.all(rows.map((row) => row.getAttribute('href')));
  expect(paths).toEqual(expect.arrayContaining([`/r/${soon.requestId}`, `/r/${slow.requestId}`]));
  expect(paths.indexOf(`/r/${soon.requestId}`)).toBeLessThan(paths.indexOf(`/r/${slow.requestId}`));
  await alice.locator(`a[href="/r/${soon.requestId}"]`).click();
  await press(alice, 'Approve');
  await alice.getByRole('link', { name: 'Inbox' }).click();
  expect(await alice.locator(`a[href="/r/${soon.requestId}"]`).count()).toBe(0);
});

test('who is not signed in signs in and comes back; signing out ends it; somebody else may sign in for the same page', async () => {
  const { requestId } = await asked(email());
  const path = `/r/${requestId}`;
  const { webUrl } = stage.front.urls;
  const { page } = await stage.seat();
  await page.goto(webUrl + path);
  await chooseIdentity(page, 'alice');
  await page.waitForURL(webUrl + path);
  expect(await page.locator('header').textContent()).toContain('Signed in as alice');
  const session = (await page.context().cookies()).find(({ name }) => name === '__Host-countersign');
  expect(session).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' });

  await press(page, 'Sign out');
  expect(await page.context().cookies(webUrl)).not.toContainEqual(
    expect.objectContaining({ name: '__Host-countersign' }),
  );
  await page.goto(webUrl + path);
  await chooseIdentity(page, 'bob');
  await page.waitForURL(webUrl + path);
  expect(await page.locator('header').textContent()).toContain('Signed in as bob');
});

test('who loses the session while a form is open is not robbed of the note', async () => {
  const { requestId } = await asked(email());
  const page = await stage.as('alice', `/r/${requestId}`);
  await page.getByLabel('Note').fill('checked with Ada');
  await page.context().clearCookies();
  await press(page, 'Reject');
  expect(await wordsOf(page)).toContain('Nothing was sent. What you typed: checked with Ada');
  await page.getByRole('link', { name: 'Sign in and come back' }).click();
  await chooseIdentity(page, 'alice');
  await page.waitForURL(`${stage.front.urls.webUrl}/r/${requestId}`);
  expect((await stage.front.get(requestId)).body.votes).toEqual([]);
});

test('who holds no role of the mission sees the same page as for an id that does not exist; an auditor reads', async () => {
  const { requestId } = await asked(email());
  const page = await stage.as('alice', '/r/AAAAAAAAAAAAAAAAAAAAAA');
  const missing = await page.content();
  expect(await wordsOf(page)).toContain('or it is not yours to see');
  const dave = await stage.as('dave', `/r/${requestId}`);
  expect(await wordsOf(dave)).toContain('You can read this, not decide it');
  expect(await formsOf(dave)).toBe(0);

  const claims = { sub: 'zoe', [rolesClaim]: ['warehouse'], scope: `${scopePrefix}decide` };
  const now = Math.floor(Date.now() / 1000);
  const meant = { iss: stage.front.urls.issuer, aud: audience, iat: now, exp: now + 600 };
  const zoe = await stage.withToken(await stage.front.service.signToken({ ...claims, ...meant }), '/');
  expect(await wordsOf(zoe)).toContain('Nothing waits for you');
  expect((await zoe.goto(`${stage.front.urls.webUrl}/r/${requestId}`))?.status()).toBe(404);
  const hidden = await zoe.content();
  expect(hidden.replaceAll(requestId, 'AAAAAAAAAAAAAAAAAAAAAA').replaceAll('zoe', 'alice')).toBe(missing);
});

test.each([
  ['light', 390],
  ['dark', 1280],
] as const)(
  '%s and %i pixels wide, nothing sticks out, and text stands out from its ground',
  async (colorScheme, width) => {
    const long = 'x'.repeat(400);
    const { requestId } = await asked({
      actionName: `a_${long.slice(0, 110)}`,
      actionArgs: { [long.slice(0, 200)]: long, url: `https://${long}` },
      onBehalfOf: long.slice(0, 120),
      contextSummary: long,
    });
    const page = await stage.as('alice', `/r/${requestId}`, { colorScheme, viewport: { width, height: 844 } });
    for (const path of [`/r/${requestId}`, '/', '/r/nothing']) {
      await page.goto(stage.front.urls.webUrl + path);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
    const colours = (await page.evaluate(
      '[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]',
    )) as string[];
    expect(colours).toEqual(
      colorScheme === 'dark' ? ['rgb(238, 238, 238)', 'rgb(21, 21, 21)'] : ['rgb(22, 22, 22)', 'rgb(255, 255, 255)'],
    );
  },
);
