import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { email, newRun, refund } from '../service/harness.ts';
import { chooseIdentity, press, stageForTests, wordsOf } from './browser.ts';

const stage = stageForTests();
const asked = async (body: object) => (await stage.front.ask(body)).body;

/** From a person's mailbox to the request: the link of the mail, then who they are. */
async function openFromMail(page: Page, who: string, requestId: string): Promise<void> {
  await stage.front.messages(requestId, 3);
  await page.goto(stage.front.urls.mailboxUrl);
  const mails = page.locator('article').filter({ hasText: `E-mail to ${who}@example.org` });
  await mails.locator(`a[href$="/r/${requestId}"]`).click();
  await chooseIdentity(page, who);
  await page.waitForURL(`${stage.front.urls.webUrl}/r/${requestId}`);
}

test.each([
  ['with', true],
  ['without', false],
])(
  '%s JavaScript: two people come by their mails and approve; the agent acts once; the page shows who and that it was used',
  async (_how, javaScriptEnabled) => {
    const action = refund(240);
    const { requestId } = await asked({ runId: newRun(), ...action, contextSummary: 'A broken kettle.' });

    const alice = (await stage.seat({ javaScriptEnabled })).page;
    await openFromMail(alice, 'alice', requestId);
    expect(await wordsOf(alice)).toContain('0 of 2 approvals given. Still needed: 2 × support_manager.');
    await press(alice, 'Approve');
    expect(alice.url()).toBe(`${stage.front.urls.webUrl}/r/${requestId}`);
    expect(await wordsOf(alice)).toContain('1 of 2 approvals given. Still needed: 1 × support_manager.');
    expect(await wordsOf(alice)).toContain('You approved this; more votes are needed.');
    expect(await alice.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect((await stage.front.claim(requestId, action)).body.code).toBe('NOT_APPROVED');

    const bob = (await stage.seat({ javaScriptEnabled })).page;
    await openFromMail(bob, 'bob', requestId);
    expect(await wordsOf(bob)).toContain('alice (support_manager) approved at');
    await bob.getByLabel('Note').fill('photo seen');
    await press(bob, 'Approve');
    expect(await wordsOf(bob)).toMatch(
      /Approved by alice and bob at .+ UTC\.\s+Not used yet: support-bot may run it once/,
    );

    const claimed = await stage.front.claim(requestId, { claimId: 'once', ...action });
    expect(claimed.body).toEqual({ claimId: 'once', effectiveArgs: action.actionArgs });
    await bob.reload();
    expect(await wordsOf(bob)).toMatch(/support-bot started it at .+; nobody has said how it ended\./);
    expect(await bob.getByRole('button', { name: 'Take the approval back' }).count()).toBe(0);
    await stage.front.outcome(requestId, { claimId: 'once', outcome: 'succeeded' });
    await alice.reload();
    const words = await wordsOf(alice);
    expect(words).toMatch(/Approved by alice and bob at .+ UTC\.\s+support-bot started it at .+; it succeeded/);
    expect(words).toContain('photo seen');
  },
);

test('exactly what will run comes first, then the policy, the votes, and the agent’s words last, marked', async () => {
  const summary = 'A goodwill gesture of 24.00 EUR.';
  const { requestId } = await asked({ runId: newRun(), ...refund(240), contextSummary: summary });
  const page = await stage.as('alice', `/r/${requestId}`);
  const words = await wordsOf(page);
  const places = [
    'What will run, exactly',
    '240',
    'Money leaves',
    '0 of 2',
    'What the agent says (not checked)',
    summary,
  ];
  expect(places.map((place) => words.indexOf(place)).toSorted((one, other) => one - other)).toEqual(
    places.map((place) => words.indexOf(place)),
  );
  expect(words.indexOf(places[0] ?? '')).toBeGreaterThan(0);
  const marked = page.getByRole('group').filter({ hasText: 'What the agent says (not checked)' });
  expect(await wordsOf(page, marked)).toContain(summary);
  expect(await page.evaluate(`getComputedStyle(document.querySelector('details')).borderStyle`)).toBe('dashed');
});

test('the browser stops a rejection without a note; with one it is rejected', async () => {
  const { requestId } = await asked({ runId: newRun(), ...email() });
  const page = await stage.as('alice', `/r/${requestId}`);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.isNavigationRequest()) sent.push(request.method());
  });
  await page.getByRole('button', { name: 'Reject' }).click();
  expect(await page.locator('#note:invalid:focus').count()).toBe(1);
  expect(sent).toEqual([]);
  expect((await stage.front.get(requestId)).body).toMatchObject({ status: 'PENDING', votes: [] });

  await page.getByLabel('Note').fill('wrong customer\nsee ticket 81');
  await press(page, 'Reject');
  expect(sent).toEqual(['POST', 'GET']);
  expect(await wordsOf(page)).toMatch(
    /alice rejected this at .+ The action may not run\.\s+Note: wrong customer\nsee ticket 81/,
  );
  expect((await stage.front.get(requestId)).body.decision).toMatchObject({
    word: 'reject',
    decidedBy: ['alice'],
    note: 'wrong customer\nsee ticket 81',
  });
});

test('an edit leaves hidden characters as stored, voids the vote given before, and its editor may not approve', async () => {
  const hidden = {
    customerId: 'cus\u200b_81\u202eQ',
    note: '\n first\r\nsecond \u2028\t\u{e0100} ',
    list: ['', null, 'a\u00a0b'],
  };
  const action = {
    actionName: 'issue_refund',
    actionArgs: { amount: 240, card: { number: '4111111111111111' }, ...hidden },
  };
  const { requestId } = await asked({ runId: newRun(), ...action });
  const alice = await stage.as('alice', `/r/${requestId}`);
  await press(alice, 'Approve');

  const bob = await stage.as('bob', `/r/${requestId}`);
  await bob.getByText('Edit what will run').click();
  const field = bob.getByLabel('All arguments, as JSON.');
  await field.fill((await field.inputValue()).replace('"amount": 240', '"amount": 24.5'));
  await press(bob, 'Send the edit');
  const words = await wordsOf(bob);
  expect(words).toContain('These are edited arguments, not those that the agent asked for.');
  expect(words).toMatch(/alice \(support_manager\) approved at .+, void since the arguments were edited/);
  expect(words).toContain('You edited the arguments, so others decide.');
  expect(words).toContain('0 of 2 approvals given');
  expect(await bob.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  expect((await stage.front.get(requestId)).body.effectiveArgs).toEqual({ ...action.actionArgs, amount: 24.5 });

  await alice.reload();
  await press(alice, 'Approve');
  expect(await wordsOf(alice)).toContain('1 of 2 approvals given');
});

test('an edit that is refused comes back with what was typed', async () => {
  const { requestId } = await asked({ runId: newRun(), ...email() });
  const page = await stage.as('alice', `/r/${requestId}`);
  await page.getByLabel('Note').fill('a <b>typo</b>');
  await page.getByText('Edit what will run').click();
  await page.getByLabel('All arguments, as JSON.').fill('\n{"to": 1,\n "to": 2}');
  await press(page, 'Send the edit');
  expect(await wordsOf(page, page.getByRole('alert'))).toContain('/to is given twice');
  expect(await page.getByLabel('All arguments, as JSON.').inputValue()).toBe('\n{"to": 1,\n "to": 2}');
  expect(await page.getByLabel('Note').inputValue()).toBe('a <b>typo</b>');
  expect((await stage.front.get(requestId)).body.votes).toEqual([]);
});

test.each(['Use the old address.\n\nThen ask again.', '', '0'])(
  'an answer instead, %j, reaches the agent as it was typed',
  async (response) => {
    const { requestId } = await asked({ runId: newRun(), ...email() });
    const page = await stage.as('alice', `/r/${requestId}`);
    await page.getByText('Answer instead').click();
    await page.getByLabel('What the agent gets').fill(response);
    await press(page, 'Send the answer');
    expect(await wordsOf(page)).toMatch(/alice answered instead at .+ The action may not run\./);
    expect((await stage.front.get(requestId)).body).toMatchObject({
      status: 'RESPONDED',
      verdict: 'stop',
      decision: { word: 'respond', decidedBy: ['alice'], response },
    });
  },
);

test('an approval can be taken back until it is claimed, then no longer', async () => {
  const action = email();
  const [first, second] = [await asked({ runId: newRun(), ...action }), await asked({ runId: newRun(), ...action })];
  const page = await stage.as('alice', `/r/${first.requestId}`);
  await press(page, 'Approve');
  await page.getByLabel('Note').fill('wrong draft');
  await press(page, 'Take the approval back');
  expect(await wordsOf(page)).toMatch(/alice took the approval back at .+, before it was used\.\s+Note: wrong draft/);
  expect((await stage.front.claim(first.requestId, action)).body.code).toBe('NOT_APPROVED');

  await page.goto(`${stage.front.urls.webUrl}/r/${second.requestId}`);
  await press(page, 'Approve');
  await stage.front.claim(second.requestId, action);
  await press(page, 'Take the approval back');
  expect(await wordsOf(page, page.getByRole('alert'))).toContain('claimed');
  expect(await page.getByRole('button', { name: 'Take the approval back' }).count()).toBe(0);
  expect((await stage.front.get(second.requestId)).body.status).toBe('APPROVED');
});
