import { describe, expect, test } from 'vitest';
import { septetsOf } from '../../core/alert-sms.ts';
import { alert, alertRequest, asked, ownHost } from './alert-request.ts';

describe('case 42: the SMS', () => {
  const link = `${ownHost}/r/Qm3x8Kp0tZr5Vb2nLw7YcA`;
  const sms = (given: Parameters<typeof alertRequest>[0], webUrl = ownHost) =>
    alert(alertRequest(given), asked, webUrl).sms;

  test.each<[Parameters<typeof alertRequest>[0], string]>([
    [{ actionName: 'отправить' }, 'Asked: details on the page. By 14:20 UTC.'],
    [{ actionName: 'send 🙂', actionArgs: { a: 'ok', b: 'привет' } }, 'Asked: ok, details on the page. By 14:20 UTC.'],
    [
      { actionName: 'pay', actionArgs: { a: 'x\u200by', b: 5, c: null, d: '' } },
      'Asked: pay 5, null, details on the page. By',
    ],
    [{ actionName: 'pay', actionArgs: { to: 'https://evil.example/x' } }, 'Asked: pay, details on the page. By'],
    [{ actionName: 'pay', actionArgs: { to: 'evil.example' } }, 'Asked: pay, details on the page. By'],
    [
      { actionName: 'pay', actionArgs: { to: 'ada@customer.example', sum: 240.5 } },
      'Asked: pay 240.5, ada@customer.example. By',
    ],
    [{ actionName: 'a'.repeat(300) }, `Asked: ${'a'.repeat(74)}.. By 14:20 UTC.`],
    [{ facts: { deadline: '2026-12-02T09:05:59.000Z' } }, 'Asked: issue_refund. By 2 Dec 09:05 UTC.'],
  ])('%j', (given, start) => {
    const text = sms(given);
    expect(text.startsWith(start)).toBe(true);
    expect(text.endsWith(` ${link}`)).toBe(true);
    expect(septetsOf(text)).toBeLessThanOrEqual(148);
  });

  test.each([
    [60, 'Asked: issue_refund_of_everything_there.. By 2 Dec 09:05 UTC. https'],
    [85, 'Asked: issue_refund_.. By 09:05 UTC. https'],
    [95, 'Asked. By 09:05 UTC. https'],
    [110, 'Asked: https'],
    [123, 'https'],
  ])('with a host of %i characters it sheds in order, never the link', (length, start) => {
    const webUrl = `https://${'h'.repeat(length - 8)}`;
    const text = sms(
      { actionName: 'issue_refund_of_everything_there_is', facts: { deadline: '2026-12-02T09:05:00.000Z' } },
      webUrl,
    );
    expect(text.startsWith(start)).toBe(true);
    expect(text.endsWith(`${webUrl}/r/Qm3x8Kp0tZr5Vb2nLw7YcA`)).toBe(true);
    expect(septetsOf(text)).toBeLessThanOrEqual(148);
  });

  test('extended characters count twice', () => {
    expect([septetsOf('a{€'), septetsOf('é@_'), septetsOf('`'), septetsOf('ç'), septetsOf('\n')]).toEqual([
      5,
      3,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
