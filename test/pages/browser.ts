import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { Front } from '../service/harness.ts';

/** Nothing but the pages under test is to be loaded. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A status is the answer itself, not a fault: Chromium logs it all the same. */
const statusOnly = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** One person's browser, with cookies of its own. */
export interface Seat {
  page: Page;
  /** What the console said that no page of ours may cause: errors, warnings, violations of a policy. Checked after each test. */
  complaints: string[];
}

/** A service and a Chromium for the tests of one file. */
export class Stage {
  #front: Front | undefined;
  #browser: Browser | undefined;
  #seats: Seat[] = [];

  get front(): Front {
    if (this.#front === undefined) throw new Error('the service has not started');
    return this.#front;
  }

  async open(): Promise<void> {
    [this.#front, this.#browser] = await Promise.all([
      Front.start(),
      chromium.launch({ executablePath: '/usr/bin/chromium', args }),
    ]);
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#front?.stop();
  }

  async seat(options: BrowserContextOptions = {}): Promise<Seat> {
    if (this.#browser === undefined) throw new Error('the browser has not started');
    const context = await this.#browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    const complaints: string[] = [];
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !statusOnly.test(message.text()))
        complaints.push(message.text());
    });
    context.on('weberror', (error) => complaints.push(String(error.error())));
    context.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const seat = { page, complaints };
    this.#seats.push(seat);
    return seat;
  }

  /** Opens `path` of the pages as `who`, with the session that signing in gives: the access token itself. */
  as = (who: string, path = '/', options: BrowserContextOptions = {}): Promise<Page> =>
    this.withToken(this.front.urls.tokens[who] ?? '', path, options);

  async withToken(token: string, path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const { page } = await this.seat(options);
    await this.#giveSession(page, token);
    await page.goto(this.front.urls.webUrl + path);
    return page;
  }

  /** Somebody who is signed in and is elsewhere. */
  async seatOf(who: string): Promise<Seat> {
    const seat = await this.seat();
    await this.#giveSession(seat.page, this.front.urls.tokens[who] ?? '');
    return seat;
  }

  #giveSession(page: Page, value: string): Promise<void> {
    const url = `https://${new URL(this.front.urls.webUrl).hostname}/`;
    const session = { name: '__Host-countersign', value, url, secure: true, httpOnly: true };
    return page.context().addCookies([{ ...session, sameSite: 'Lax' }]);
  }

  /** Fails where any page complained. */
  async clear(): Promise<void> {
    const seats = this.#seats.splice(0);
    await Promise.all(seats.map(({ page }) => page.context().close()));
    await this.#front?.clock(0);
    expect(seats.flatMap(({ complaints }) => complaints)).toEqual([]);
  }
}

/** Starts and stops with the tests of a file; after each test the clock is right again and no page has complained. */
export function stageForTests(): Stage {
  const stage = new Stage();
  beforeAll(() => stage.open());
  afterEach(() => stage.clear());
  afterAll(() => stage.close());
  return stage;
}

export async function chooseIdentity(page: Page, who: string): Promise<void> {
  await page.getByRole('radio', { name: who }).check();
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** What a person reads: what is folded away is not in it. */
export const wordsOf = (page: Page, place: Locator = page.locator('main')): Promise<string> =>
  // biome-ignore lint/performance/useDomNodeTextContent: what is rendered is what counts here
  place.innerText();

/** Presses a button of the page and waits for the answer. */
export async function press(page: Page, name: string): Promise<void> {
  const answer = page.waitForEvent('framenavigated');
  await page.getByRole('button', { name, exact: true }).click();
  await answer;
  await page.waitForLoadState();
}
