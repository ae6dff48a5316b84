import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileCondition } from '../../core/condition.ts';
import { factsOf } from '../../core/evaluation.ts';
import { checkCases, type PolicyCase, runCase } from '../../core/policy-case.ts';
import { checkPolicyDocument, missionPolicy } from '../../core/policy-document.ts';
import { parsePolicyDocument } from '../../core/policy-yaml.ts';
import type { WindowReading } from '../../core/window.ts';

const step = {
  actionName: 'pay',
  actionArgs: { amount: 50 },
  runId: 'run',
  missionId: 'default',
  phase: 'before' as const,
  requestedBy: 'bot',
  now: '2026-11-30T14:00:00.000Z',
  attempt: 1,
};
const told = (when: string, windows?: Map<string, WindowReading>) =>
  compileCondition(when, new Set(['paid'])).evaluate(factsOf({ ...step, ...(windows && { windows }) }));

describe('a condition over a window', () => {
  test.each([
    ['window.paid.sum + args.amount > 500.0', { sum: 450, count: 3 }, false],
    ['window.paid.sum + args.amount > 500.0', { sum: 450.01, count: 3 }, true],
    ['window.paid.count + 1 > 3', { sum: 0, count: 3 }, true],
    ['window.paid.count >= 4', { sum: 0, count: 3 }, false],
  ])('%s, where it holds %j, is %s', (when, reading, value) => {
    expect(told(when, new Map([['paid', reading]]))).toEqual({ value });
  });

  test.each(['window.paid.sum < 5.0', '!(window.paid.sum > 5.0)', 'has(window.paid.sum)', 'window.paid.count == 0'])(
    '%s is not to be read where the window is not',
    (when) => {
      expect(told(when)).toEqual({ unreadable: expect.any(String) });
    },
  );

  test.each([
    ['has(window.paid)', 'window.<id>.sum'],
    ['!has(window.paid) || window.paid.sum < 5.0', 'window.<id>.sum'],
    ['"paid" in window', 'window.<id>.sum'],
    ['size(window) == 0', 'window.<id>.sum'],
    ['window == {}', 'window.<id>.sum'],
    ['window["paid"].sum < 5.0', 'window.<id>.sum'],
    ['window.paid == {}', 'window.<id>.sum'],
    ['window.exists(id, id == "paid")', 'window.<id>.sum'],
    ['window.spent.sum > 1.0', 'there is no window spent; the policy declares paid'],
    ['window.paid.max > 1.0', 'sum and count'],
  ])('%s is refused: it could make a plain no of what cannot be read', (when, words) => {
    expect(() => compileCondition(when, new Set(['paid']))).toThrow(words);
  });
});

describe('bounds in a document', () => {
  const document = (more: object) => ({
    mission: 'default',
    defaults: { approverRole: 'manager' },
    actions: { pay: { policy: 'autonomous', reason: 'Small', secretPaths: ['/actionArgs/card'] } },
    ...more,
  });
  const rule = (id: string, when: string): unknown =>
    JSON.parse(`{"id":${JSON.stringify(id)},"when":${JSON.stringify(when)},"then":"stop"}`);
  const paid = { id: 'paid', by: 'agent', value: '/amount', over: '24h' };

  test('with every default, and as given', () => {
    const plain = missionPolicy(checkPolicyDocument(document({})));
    expect(plain).toMatchObject({ windows: [], bounds: { maxPending: {} } });
    expect(plain.unlisted.maxAttempts).toBe(5);
    const given = missionPolicy(
      checkPolicyDocument(
        document({
          maxAttempts: 3,
          maxRequests: 9,
          maxPending: { run: 2, agent: 4 },
          windows: [{ ...paid, actions: ['pay'] }],
        }),
      ),
    );
    expect(given.bounds).toEqual({ maxRequests: 9, maxPending: { run: 2, agent: 4 } });
    expect(given.actions.get('pay')?.maxAttempts).toBe(3);
    expect(given.windows).toEqual([{ ...paid, over: undefined, overSeconds: 86_400, actions: new Set(['pay']) }]);
    expect(missionPolicy(checkPolicyDocument(document({ maxPending: 7 }))).bounds.maxPending).toEqual({ run: 7 });
  });

  test.each([
    [{ windows: [{ ...paid, over: '24 hours' }] }, '/windows/0/over is "24 hours"; 1m to 31d is needed'],
    [{ windows: [{ ...paid, over: '30s' }] }, '1m to 31d'],
    [{ windows: [{ ...paid, over: '32d' }] }, '1m to 31d'],
    [
      { windows: [{ ...paid, id: 'paid-out' }] },
      '/windows/0/id is "paid-out"; a name is needed that can stand in a condition',
    ],
    [{ windows: [{ ...paid, by: 'team' }] }, 'allowed are run, agent, subject'],
    [{ windows: [{ ...paid, value: 'amount' }] }, 'a JSON Pointer'],
    [{ windows: [paid, paid] }, 'each id may be given once'],
    [{ windows: [{ ...paid, value: '/card/limit' }] }, 'which the secretPaths of pay hide'],
    [{ maxAttempts: 0 }, 'at least 1 is allowed'],
    [{ maxRequests: 1.5 }, '/maxRequests'],
    [{ maxPending: { team: 1 } }, '/maxPending does not know "team"; allowed are run, agent'],
    [{ maxPending: 'few' }, 'a number, or {run, agent}'],
    [{ rules: [rule('maxAttempts', 'phase == "before"')] }, 'is the name of a bound'],
    [{ rules: [rule('r', 'window.paid.sum > 1.0')] }, 'there is no window paid'],
  ])('%j is refused: %s', (more, words) => {
    expect(() => checkPolicyDocument(document(more))).toThrow(words);
  });
});

describe('a table of cases', () => {
  const mission = missionPolicy(
    parsePolicyDocument(`
mission: default
defaults: { approverRole: manager }
windows: [{ id: paid, by: subject, value: /amount, over: 24h }]
actions:
  pay:
    policy: autonomous
    reason: Small
    rules: [{ id: enough, when: 'window.paid.sum + args.amount > 500.0', then: stop }]
`),
  );
  const runs = (more: object) =>
    runCase(
      mission,
      checkCases([
        { action: 'pay', args: { amount: 50 }, onBehalfOf: 'ada', expect: 'allow', ...more },
      ])[0] as PolicyCase,
    );

  test('says what a window holds already; nothing, where it does not', () => {
    expect(runs({})).toMatchObject({ effect: 'allow', differences: [] });
    expect(runs({ windows: { paid: { sum: 450 } } })).toMatchObject({ effect: 'allow', differences: [] });
    expect(runs({ windows: { paid: { sum: 450.01 } } })).toMatchObject({ effect: 'stop', rules: ['enough'] });
  });

  test('can make no window readable that is not', () => {
    for (const more of [{ args: { amount: '50' } }, { onBehalfOf: undefined }])
      expect(runs({ windows: { paid: { sum: 0 } }, ...more })).toMatchObject({ effect: 'pause', rules: ['enough'] });
  });
});

test('the page on policies: its mission with limits does what the page says', () => {
  const page = readFileSync(new URL('../../docs/policies.md', import.meta.url), 'utf8');
  const [, yaml = ''] = /## 7\. Limits.*?```yaml\n(.*?)```/s.exec(page) ?? [];
  const mission = missionPolicy(parsePolicyDocument(yaml));
  expect(mission.bounds).toEqual({ maxRequests: 200, maxPending: { run: 10, agent: 50 } });
  expect(mission.unlisted.maxAttempts).toBe(3);
  const refund = {
    action: 'issue_refund',
    args: { amount: 20 },
    onBehalfOf: 'ada',
    windows: { refunded: { sum: 480 } },
  };
  const mail = { action: 'send_customer_email' };
  const cases = checkCases([
    { ...refund, expect: 'allow' },
    { ...refund, args: { amount: 20.01 }, expect: 'pause', rules: ['weekly'] },
    { ...refund, onBehalfOf: undefined, expect: 'pause', rules: ['weekly'] },
    { ...mail, windows: { mails: { count: 2 } }, expect: 'allow' },
    { ...mail, windows: { mails: { count: 3 } }, expect: 'stop', rules: ['too-many'] },
  ]);
  expect(cases.flatMap((given) => runCase(mission, given).differences)).toEqual([]);
});
