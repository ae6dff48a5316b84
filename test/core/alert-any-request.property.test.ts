import { describe, expect, test } from 'vitest';
import { septetsOf } from '../../core/alert-sms.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { AlertMessage, StoredRequest } from '../../core/ports.ts';
import {
  alert,
  alertRequest,
  apiHost,
  asked,
  cannotBeSeen,
  envelopeBytes,
  escalated,
  ownHost,
  printableSubject,
} from './alert-request.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

test('the hosts are as long as those of the budget', () => {
  expect([ownHost.length, apiHost.length]).toEqual([24, 59]);
});

/** What is wrong with a message, by the rules that hold for every one. */
function faultsOf(message: AlertMessage, link: string): string[] {
  const septets = septetsOf(message.sms);
  return [
    ...(septets === undefined ? ['SMS not in GSM-7'] : []),
    ...((septets ?? 0) > 148 ? ['SMS too long'] : []),
    ...(message.sms.endsWith(link) ? [] : ['SMS without the whole link']),
    ...(printableSubject.test(message.subject) ? [] : ['subject']),
    ...(message.email.includes(`: ${link}\n`) ? [] : ['mail without the whole link']),
    ...(envelopeBytes(message) > 262_144 ? ['envelope too large'] : []),
    ...(cannotBeSeen.test(message.email.replaceAll('\n', '')) ? ['mail with what cannot be seen'] : []),
  ];
}

describe('any request, seeded', { timeout: 60_000 }, () => {
  test.each([
    [ownHost, 1],
    [apiHost, 2],
  ])('10 000 requests with %s', (webUrl, seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 10_000; round += 1) {
      const request = hostileRequest(random, 40);
      const message = alert(request, random.pick([asked, escalated]), webUrl);
      const faults = faultsOf(message, `${webUrl}/r/${request.state.requestId}`);
      if (faults.length > 0) throw new Error(`round ${round}: ${faults.join(', ')}: ${JSON.stringify(message)}`);
    }
  });

  test('200 large ones', () => {
    const random = seededRandom(3);
    let shortened = 0;
    for (let round = 0; round < 200; round += 1) {
      const request = hostileRequest(random, 30_000);
      const message = alert(request, random.pick([asked, escalated]));
      expect(faultsOf(message, `${ownHost}/r/${request.state.requestId}`)).toEqual([]);
      if (message.email.includes('This mail is shortened')) shortened += 1;
    }
    expect(shortened).toBeGreaterThan(50);
    expect(shortened).toBeLessThan(200);
  });

  test('the guard sees each fault', () => {
    const request = alertRequest({ actionArgs: { a: 1 } });
    const link = `${ownHost}/r/${request.state.requestId}`;
    const good = alert(request);
    expect(faultsOf(good, link)).toEqual([]);
    expect(faultsOf({ ...good, sms: `Просьба ${link}` }, link)).toEqual(['SMS not in GSM-7']);
    expect(faultsOf({ ...good, sms: 'x'.repeat(149 - link.length) + link }, link)).toEqual(['SMS too long']);
    expect(faultsOf({ ...good, sms: good.sms.slice(0, -1) }, link)).toEqual(['SMS without the whole link']);
    expect(faultsOf({ ...good, subject: `${good.subject}\n` }, link)).toEqual(['subject']);
    expect(faultsOf({ ...good, email: good.email.replace('YcA', 'Yc') }, link)).toEqual([
      'mail without the whole link',
    ]);
    expect(faultsOf({ ...good, email: good.email + '"'.repeat(66_000) }, link)).toEqual(['envelope too large']);
    expect(faultsOf({ ...good, email: `${good.email}\u200b` }, link)).toEqual(['mail with what cannot be seen']);
  });
});

const pieces = [
  'a',
  'refund ',
  '5000',
  '\n',
  '\r',
  '\0',
  '\u001b[2J',
  '\u202e',
  '\u200b',
  '\u{e0100}',
  '🙂',
  'ж',
  '漢',
  '"',
  '\\',
  '{',
  '€',
  '`',
  '<a href=//evil>',
  'https://evil.example ',
  'x@y.example',
  ' '.repeat(40),
  '\u0301',
  '\t',
];

const hostileText = (random: SeededRandom, most: number): string => {
  const few = random.below(3) === 0 ? [random.pick(pieces)] : pieces;
  return Array.from({ length: random.below(random.pick([2, 8, most])) }, () => random.pick(few)).join('');
};

function hostileRequest(random: SeededRandom, most: number): StoredRequest {
  const value = (depth: number): JsonValue => {
    const kind = random.below(depth === 0 ? 4 : 6);
    if (kind === 0) return random.pick([null, true, false, 0, -1.5e-7, 1e300]);
    if (kind < 4) return hostileText(random, most);
    if (kind === 4) return Array.from({ length: random.below(5) }, () => value(depth - 1));
    return object(depth - 1);
  };
  const object = (depth: number): JsonObject =>
    Object.fromEntries(Array.from({ length: random.below(6) }, () => [hostileText(random, 20), value(depth)]));
  return alertRequest({
    actionName: hostileText(random, 300),
    actionArgs: object(2),
    secretPaths: random.pick([[], ['/actionArgs/a']]),
    facts: {
      requestedBy: hostileText(random, 100),
      onBehalfOf: hostileText(random, 100),
      runId: hostileText(random, 100),
      deadline: random.pick(['2026-11-30T14:20:00.000Z', '2027-02-28T23:59:59.999Z']),
    },
    ...(random.below(4) === 0 && {
      action: { sourceAgent: hostileText(random, 100), targetAgent: 'b', phase: 'after' },
    }),
  });
}
