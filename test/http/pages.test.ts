import { describe, expect, test } from 'vitest';
import { localPath } from '../../web/sign-in-routes.ts';
import { editableJson } from '../../web/what-runs.ts';
import { issuer, openSeat, webUrl } from './seat.ts';

const refund = {
  actionName: 'issue_refund',
  actionArgs: { amount: 240, customerId: 'cus_81Q', card: { number: '4111111111111111' } },
};
const email = { actionName: 'send_customer_email', actionArgs: { to: 'ada@customer.example', subject: 'Your refund' } };

/** Names stand in elements of their own; the sentence is what is read. */
const sentencesOf = (page: string): string => page.replaceAll(/<\/?bdi>/g, '');

/** What the person who opens the page sends back. */
const seen = async (seat: ReturnType<typeof openSeat>, who: string, id: string) => ({
  ...Object.fromEntries(
    [...(await (await seat.open(who, `/r/${id}`)).text()).matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  ),
});

describe('the page of a request', () => {
  test('shows the exact arguments first, by pointer, secrets hidden, then the policy, the votes, and the agent last', async () => {
    const seat = openSeat();
    const id = await seat.ask({ ...refund, contextSummary: 'A small goodwill refund.' });
    const page = await (await seat.open('alice', `/r/${id}`)).text();
    const order = [
      '/amount',
      '240',
      '/customerId',
      'cus_81Q',
      'Money leaves and does not come back',
      '0 of 2 approvals given',
      '2 × support_manager',
      'What the agent says (not checked)',
      'A small goodwill refund.',
    ];
    expect(
      order.map((words) => page.indexOf(words)).every((place, index, places) => place > (places[index - 1] ?? 0)),
    ).toBe(true);
    expect(page).not.toContain('4111');
    expect(page).toContain('[hidden by policy, 16 characters]');
    expect(page).toContain('2 h 00 min left, by 2026-11-30 16:00 UTC');
  });

  test('case 43: what an agent wrote is inert and visible, in every field', async () => {
    const seat = openSeat();
    const hostile = `</p><a href=//evil>Approve</a>[Approve](//evil)\u202e\u200b\u{e0100}x${' '.repeat(5000)}y\u001b[31m"'<script>alert(1)</script></textarea></title>`;
    const id = await seat.ask({
      actionName: hostile.slice(0, 100),
      actionArgs: { [hostile]: hostile, list: [hostile] },
      contextSummary: hostile,
      onBehalfOf: hostile.replaceAll(/[^ -~]/gu, '').slice(0, 120),
    });
    for (const page of [
      await (await seat.open('alice', `/r/${id}`)).text(),
      await (await seat.open('alice', '/')).text(),
    ]) {
      expect(page).not.toMatch(/<a href=\/\/evil|<script|<\/textarea><\/title>|style="|\son\w+="/);
      for (const unseen of ['\u202e', '\u200b', '\u{e0100}', '\u001b', 'x   ']) expect(page).not.toContain(unseen);
      expect(page).toContain('<mark>‹U+202E›</mark>');
      expect(page).toContain('&lt;a href=//evil&gt;Approve&lt;/a&gt;');
    }
    expect(await (await seat.open('alice', `/r/${id}`)).text()).toContain('<mark>‹SPACE ×5000›</mark>');
  });

  test('of a step that has already run shows what came of it, as the agent’s words', async () => {
    const seat = openSeat();
    const id = await seat.ask({ ...refund, phase: 'after', actionResult: { refundId: 're_1', '<b>': '\u202e' } });
    const page = await (await seat.open('alice', `/r/${id}`)).text();
    expect(page).toContain('What has run, exactly');
    expect(page.indexOf('re_1')).toBeGreaterThan(page.indexOf('What the agent says (not checked)'));
    expect(page).toContain('&lt;b&gt;');
    expect(page).not.toContain('\u202e');
    expect(page).not.toContain('Edit what will run');
  });

  test('the edit form says that others approve after an edit, where more than one vote is needed', async () => {
    const seat = openSeat();
    const [one, two] = [await seat.ask(email), await seat.ask(refund)];
    const others = 'and then others must approve; you cannot';
    expect(await (await seat.open('alice', `/r/${two}`)).text()).toContain(others);
    expect(await (await seat.open('alice', `/r/${one}`)).text()).not.toContain(others);
  });

  test('case 36: a timeout never reads as somebody’s refusal', async () => {
    const seat = openSeat();
    const id = await seat.ask(email);
    seat.advance(1801);
    const page = await (await seat.open('alice', `/r/${id}`)).text();
    expect(page).toContain('The time was over at 2026-11-30 14:30 UTC.');
    expect(page).not.toMatch(/reject|refus|<form method="post" action="\/r/i);
  });

  test('of a large request stays one page: arguments in one piece', async () => {
    const seat = openSeat();
    const id = await seat.ask({ ...email, actionArgs: { all: Array.from({ length: 60_000 }, () => 0) } });
    const page = await (await seat.open('alice', `/r/${id}`)).text();
    expect(page).toContain('All arguments, in one piece');
    expect(page.length).toBeLessThan(1_000_000);
  });

  test('that would be larger than Lambda hands on says so', async () => {
    const seat = openSeat();
    const id = await seat.ask({ ...email, actionArgs: { unseen: '\u007f'.repeat(250_000) } });
    const answer = await seat.open('alice', `/r/${id}`);
    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining('Too much for a page')]);
  });

  test('is 404 for who may not see it, as for an id that does not exist', async () => {
    const seat = openSeat();
    const id = await seat.ask(refund);
    const [hiddenPage, noPage] = [
      await seat.open('zoe', `/r/${id}`),
      await seat.open('zoe', '/r/AAAAAAAAAAAAAAAAAAAAAA'),
    ];
    expect([hiddenPage.status, noPage.status]).toEqual([404, 404]);
    expect((await hiddenPage.text()).replaceAll(id, 'AAAAAAAAAAAAAAAAAAAAAA')).toBe(await noPage.text());
  });

  test('tells an auditor, and whoever holds another role, that they only read', async () => {
    const seat = openSeat();
    const id = await seat.ask(refund);
    for (const who of ['dave', 'carol']) {
      const page = await (await seat.open(who, `/r/${id}`)).text();
      expect(page).toContain('You can read this, not decide it');
      expect(page).not.toContain('value="approve"');
    }
  });

  test('offers who asked, and whom it is for, only to reject', async () => {
    const seat = openSeat();
    const id = await seat.ask({ ...refund, onBehalfOf: 'Alice' });
    const page = await (await seat.open('alice', `/r/${id}`)).text();
    expect(page).toContain('This is done on your behalf');
    expect(page).not.toContain('value="approve"');
    expect(page).toContain('value="reject"');
  });
});

describe('a decision', () => {
  test('two approve, the second decides; then it can be taken back until it is claimed', async () => {
    const seat = openSeat();
    const id = await seat.ask(refund);
    const first = await seat.send('alice', `/r/${id}/decision`, {
      ...(await seen(seat, 'alice', id)),
      decision: 'approve',
      note: '',
    });
    expect([first.status, first.headers.get('location')]).toEqual([303, `/r/${id}`]);
    expect(await (await seat.open('alice', `/r/${id}`)).text()).toContain('Still needed: 1 × support_manager');
    await seat.send('bob', `/r/${id}/decision`, {
      ...(await seen(seat, 'bob', id)),
      decision: 'approve',
      note: 'photo seen',
    });
    const page = sentencesOf(await (await seat.open('bob', `/r/${id}`)).text());
    expect(page).toMatch(/Approved by (alice and bob|bob and alice) at 2026-11-30 14:00 UTC/);
    expect(page).toContain('photo seen');
    expect((await seat.send('bob', `/r/${id}/revocation`, { note: 'wrong customer' })).status).toBe(303);
    expect(sentencesOf(await (await seat.open('alice', `/r/${id}`)).text())).toContain('bob took the approval back');
  });

  test('that is refused answers with its status, the reason, and what was typed', async () => {
    const seat = openSeat();
    const id = await seat.ask(email);
    const fields = await seen(seat, 'alice', id);
    const noNote = await seat.send('alice', `/r/${id}/decision`, { ...fields, decision: 'reject', note: '' });
    expect(noNote.status).toBe(400);
    const edit = { ...fields, decision: 'edit', note: 'typo <b>', editedArgs: '{"to": 1, "to": 2}' };
    const twice = await seat.send('alice', `/r/${id}/decision`, edit);
    const page = await twice.text();
    expect(twice.status).toBe(400);
    expect(page).toContain('/to is given twice');
    expect(page).toContain('typo &lt;b&gt;');
    expect(page).toContain('{&quot;to&quot;: 1, &quot;to&quot;: 2}');
    const stale = { decision: 'approve', argsDigest: `sha256:${'0'.repeat(64)}` };
    expect((await seat.send('alice', `/r/${id}/decision`, stale)).status).toBe(409);
    seat.advance(1801);
    expect((await seat.send('alice', `/r/${id}/decision`, { ...fields, decision: 'approve' })).status).toBe(410);
  });

  test('that came second shows who was first', async () => {
    const seat = openSeat();
    const id = await seat.ask(refund);
    const fields = await seen(seat, 'alice', id);
    await seat.send('bob', `/r/${id}/decision`, { ...fields, decision: 'reject', note: 'wrong\r\ncustomer' });
    const late = await seat.send('alice', `/r/${id}/decision`, { ...fields, decision: 'approve' });
    const page = sentencesOf(await late.text());
    expect(late.status).toBe(409);
    expect(page).toContain('bob rejected this at 2026-11-30 14:00 UTC');
    expect(page).toContain('The request changed while you read it.');
    expect(page).toContain('wrong\ncustomer');
  });

  test('may be an answer instead, also an empty one, or an edit that keeps what is hidden', async () => {
    const seat = openSeat();
    const answered = await seat.ask(email);
    await seat.send('alice', `/r/${answered}/decision`, {
      ...(await seen(seat, 'alice', answered)),
      decision: 'respond',
      response: '',
    });
    expect((await seat.store.readState(answered))?.status).toBe('RESPONDED');

    const edited = await seat.ask(refund);
    const args = '{"amount": 24.5, "card": {"number": "[hidden by policy, 16 characters]"}, "customerId": "cus_81Q"}';
    await seat.send('alice', `/r/${edited}/decision`, {
      ...(await seen(seat, 'alice', edited)),
      decision: 'edit',
      editedArgs: args,
    });
    const { state, contents } = (await seat.store.readRequest(edited)) ?? {};
    expect(JSON.parse(contents?.get(state?.effectiveDigest ?? '') ?? '').actionArgs).toEqual({
      amount: 24.5,
      card: { number: '4111111111111111' },
      customerId: 'cus_81Q',
    });
    expect(await (await seat.open('alice', `/r/${edited}`)).text()).toContain(
      'You edited the arguments, so others decide.',
    );
  });
});

describe('nothing changes', () => {
  test('by GET or HEAD (promise 5), nor does a scanner get a session (case 38)', async () => {
    const seat = openSeat();
    const id = await seat.ask(refund);
    const before = await seat.store.readRequest(id);
    for (const who of [undefined, 'alice'])
      for (const path of ['/', `/r/${id}`, `/r/${id}/decision`, `/r/${id}/revocation`, '/sign-out', '/sign-in']) {
        const answer = await seat.open(who, path);
        expect(answer.headers.get('set-cookie') ?? '').not.toMatch(/__Host-countersign=/);
      }
    expect(await seat.store.readRequest(id)).toEqual(before);
  });

  test.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a sibling site', { 'sec-fetch-site': 'same-site', origin: 'https://evil.countersign.example' }],
    ['a page without an origin', { 'sec-fetch-site': 'cross-site', origin: 'null' }],
    ['a client that says nothing', { 'sec-fetch-site': '' }],
    ['another site, as plain text', { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' }],
    ['another site, as JSON', { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' }],
  ])('case 46: by a form from %s', async (_from, headers) => {
    const seat = openSeat();
    const id = await seat.ask(email);
    const fields = { ...(await seen(seat, 'alice', id)), decision: 'approve' };
    const answer = await seat.send('alice', `/r/${id}/decision`, fields, headers);
    expect([403, 415]).toContain(answer.status);
    expect((await seat.store.readState(id))?.status).toBe('PENDING');
    expect((await seat.send('alice', `/r/${id}/decision`, fields)).status).toBe(303);
    expect((await seat.store.readState(id))?.status).toBe('APPROVED');
  });

  test('by an auditor, who may read and not decide', async () => {
    const seat = openSeat();
    const id = await seat.ask(email);
    const fields = { ...(await seen(seat, 'alice', id)), decision: 'approve' };
    expect((await seat.send('dave', `/r/${id}/decision`, fields)).status).toBe(403);
  });

  test('when the session is over: the person is told, and keeps what was typed', async () => {
    const seat = openSeat();
    const id = await seat.ask(email);
    const answer = await seat.send('nobody', `/r/${id}/decision`, { decision: 'reject', note: 'not this one' });
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain('not this one');
  });
});

describe('every page', () => {
  test('goes out under the same headers, without a script and without inline style', async () => {
    const seat = openSeat();
    const id = await seat.ask(refund);
    for (const path of ['/', `/r/${id}`, '/r/none', '/nowhere', '/sign-in/callback']) {
      const answer = await seat.open('alice', path);
      const { headers } = answer;
      expect(headers.get('content-security-policy')).toBe(
        `default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self' ${new URL(issuer).origin}; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
      );
      expect(Object.fromEntries(headers)).toMatchObject({
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(await answer.text()).not.toMatch(/<script|<style|style=|javascript:/i);
    }
    expect(seat.faults).toEqual([]);
  });

  test('of the inbox names what waits, the most urgent first, and links to it', async () => {
    const seat = openSeat();
    const slow = await seat.ask(refund);
    const soon = await seat.ask(email);
    const page = await (await seat.open('alice', '/')).text();
    expect(page).toContain('2 wait for you');
    expect(page.indexOf(`/r/${soon}`)).toBeLessThan(page.indexOf(`/r/${slow}`));
    expect(page).not.toContain('<button name');
    expect(await (await seat.open('bob', '/')).text()).toContain('1 waits for you');
    for (const n of Array(25).keys()) await seat.ask({ ...email, actionArgs: { ...email.actionArgs, n } });
    expect(await (await seat.open('alice', '/')).text()).toContain('26 or more wait for you');
    expect(await (await seat.open('bob', '/')).text()).toContain('1 waits for you');
    expect(await (await seat.open('dave', '/')).text()).toContain('You hold no role that decides');
  });
});

describe('signing in', () => {
  test('leads to the issuer, and back to where one was', async () => {
    const seat = openSeat();
    const sent = await seat.open(undefined, '/r/abc?x=1');
    expect(sent.headers.get('location')).toBe('/sign-in?return=%2Fr%2Fabc%3Fx%3D1');
    const begun = await seat.open(undefined, sent.headers.get('location') ?? '');
    expect(begun.headers.get('location')).toBe(`${issuer}/authorize`);
    const cookie = begun.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^__Host-countersign-sign-in=.*Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const back = await seat.send(undefined, '/sign-out', {});
    expect(back.status).toBe(200);
  });

  test.each([
    ['/r/abc?x=1', '/r/abc?x=1'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['https://evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['/.//evil.example', '/'],
    ['javascript:alert(1)', '/'],
    [undefined, '/'],
  ])('a return path %j leads to %j', (path, expected) => {
    expect(localPath(path)).toBe(expected);
    expect(new URL(localPath(path), webUrl).origin).toBe(webUrl);
  });

  test('that was not begun here gives no session', async () => {
    const answer = await openSeat().open(undefined, '/sign-in/callback?code=alice&state=s');
    expect(answer.status).toBe(401);
    expect(answer.headers.get('set-cookie') ?? '').not.toContain('__Host-countersign=alice');
  });
});

test('JSON to edit hides nothing and reads back exactly', () => {
  const value = {
    'a\u200bb': 'x\u00a0y\u202e\r\n\u2028\u{e0100}\ufffc end',
    n: [1e21, -0.5, null, ' 5   spaces ', {}],
  };
  const text = editableJson(value);
  expect(text).toMatch(/^[ -~\n]+$/);
  expect(text).not.toMatch(/\S {3}/);
  expect(JSON.parse(text.replaceAll('\n', '\r\n'))).toEqual(value);
});
