import { describe, expect, test } from 'vitest';
import { alert, alertRequest, asked, cannotBeSeen, envelopeBytes, ownHost } from './alert-request.ts';

describe('the mail of a question', () => {
  const request = alertRequest({
    actionArgs: {
      amount: 240,
      card: { number: '4111111111111111' },
      currency: 'EUR',
      customerId: 'cus_81Q\u200b7f',
      message: 'Dear Ms Okafor,\nwe have refunded 240.00 EUR to your card.',
      orderId: 'ord_55120',
    },
    facts: { onBehalfOf: 'Ada Okafor' },
    secretPaths: ['/actionArgs/card/number'],
    contextSummary: 'Please just approve this',
  });
  const message = alert(request);

  test('word for word', () => {
    expect(message.subject).toBe('Decide: issue_refund by 30 Nov 14:20 UTC');
    expect(message.email).toBe(`support_manager: you are asked to decide (0 of 2 votes given).

issue_refund
By 30 Nov 2026 14:20 UTC. Then senior_manager is asked.

What will run, exactly
  /amount       240
  /card/number  [hidden by policy, 16 characters]
  /currency     EUR
  /customerId   cus_81Q[U+200B]7f
  /message      Dear Ms Okafor,
                we have refunded 240.00 EUR to your card.
  /orderId      ord_55120
  ! 1 value holds what cannot be seen; it is marked in square brackets.

Asked by support-bot for Ada Okafor, in run run-1.
Why a person is asked: Money leaves and does not come back

Read and decide: https://sign.example.com/r/Qm3x8Kp0tZr5Vb2nLw7YcA
Opening the link decides nothing. Any other link in this mail was written by the agent.

The lines below are added by Amazon. Unsubscribing there needs your administrator.
`);
  });

  test('the SMS leads with the action and its first values', () => {
    expect(message.sms).toBe(
      'Asked: issue_refund 240, EUR, details on the page. By 14:20 UTC. https://sign.example.com/r/Qm3x8Kp0tZr5Vb2nLw7YcA',
    );
  });

  test('its id is the same on every try, and says whom it is for', () => {
    expect(message).toMatchObject({
      id: 'Qm3x8Kp0tZr5Vb2nLw7YcA/asked-0-support_manager',
      requestId: 'Qm3x8Kp0tZr5Vb2nLw7YcA',
      kind: 'asked',
      role: 'support_manager',
      level: 0,
    });
    expect(alert(request, { ...asked, attempts: 3 })).toEqual(message);
  });

  test("case 48: no text holds a secret, nor the agent's own words", () => {
    expect(JSON.stringify(message)).not.toMatch(/4111|just approve/);
  });

  test('after an edit it shows what would run now, and says who changed it', () => {
    const edited = alertRequest({ actionArgs: { amount: 5 }, facts: { argsDigest: 'sha256:other', editors: ['bob'] } });
    expect(alert(edited).email).toContain(
      'exactly (arguments changed by bob; the agent asked for others)\n  /amount  5\n',
    );
  });

  test('of an action that ran already it says so', () => {
    expect(alert(alertRequest({ actionArgs: { a: 1 }, action: { phase: 'after' } })).email).toContain(
      'What has run, exactly',
    );
  });
});

describe('case 41: a mail that is too long', () => {
  test('leaves the largest argument out, says so, and keeps the rest and the link', () => {
    const message = alert(
      alertRequest({
        actionArgs: { amount: 240, body: 'é"\n'.repeat(80_000), currency: 'EUR', list: [1, 2], zip: 'x'.repeat(5_000) },
      }),
    );
    expect(envelopeBytes(message)).toBeLessThanOrEqual(262_144);
    expect(message.email).toContain('  /body      [left out: 240 000 characters, on the page]\n');
    expect(message.email).toContain(`  /zip       ${'x'.repeat(5_000)}\n`);
    expect(message.email).toContain('  /amount    240\n');
    expect(message.email).toContain('  ! This mail is shortened: 1 of 6 values are only on the page.\n');
    expect(message.email).toContain(`Read and decide: ${ownHost}/r/Qm3x8Kp0tZr5Vb2nLw7YcA\n`);
  });

  test('up to 20 KiB nothing is left out', () => {
    const { email } = alert(alertRequest({ actionArgs: { text: 'x'.repeat(20_000), zip: 1 } }));
    expect(email).toContain('x'.repeat(20_000));
    expect(email).not.toContain('shortened');
  });

  test('what leads stays while anything else can be left out', () => {
    const { email } = alert(
      alertRequest({
        actionArgs: {
          a: 'l'.repeat(5_000),
          b: 'l'.repeat(5_000),
          c: 2,
          d: 3,
          e: 'x'.repeat(4_000),
          f: 'x'.repeat(4_500),
          g: 'x'.repeat(4_600),
        },
      }),
    );
    expect(email.match(/l{5000}/g)).toHaveLength(2);
    expect(email).toContain('/g  [left out: 4 600 characters, on the page]');
    expect(email.match(/left out/g)).toHaveLength(1);
  });

  test('100 000 small values: the end is left out, and counted', () => {
    const { email } = alert(alertRequest({ actionArgs: { list: Array<number>(100_000).fill(1) } }));
    const [, cut = ''] = /\[left out: ([\d ]+) more values, on the page\]/.exec(email) ?? [];
    const shown = email.match(/^ {2}\/list\/\d+ +1$/gm)?.length ?? 0;
    expect(shown + Number(cut.replaceAll(' ', ''))).toBe(100_000);
    expect(shown).toBeGreaterThan(500);
  }, 60_000);
});

test('case 43: whatever field it stands in, in a mail it is inert text, and visible', () => {
  const hostile =
    '</p><a href=//evil>Approve</a> [Approve](//evil) \u202e\u200b\u{e0100}\u001b[2J a\n\nRead and decide: https://evil';
  const { email } = alert(
    alertRequest({
      actionName: hostile,
      actionArgs: { [hostile]: hostile },
      action: { sourceAgent: hostile, targetAgent: hostile },
      facts: { requestedBy: hostile, onBehalfOf: hostile, runId: hostile },
    }),
  );
  expect(cannotBeSeen.exec(email.replaceAll('\n', ''))).toBeNull();
  expect(email).toContain('[Approve](//evil) [U+202E][U+200B][U+E0100][U+001B][2J a');
  expect(email.match(/^Read and decide: .*$/gm)).toEqual([`Read and decide: ${ownHost}/r/Qm3x8Kp0tZr5Vb2nLw7YcA`]);
});
