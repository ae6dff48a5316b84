import { expect, test } from 'vitest';
import { backtest, type Fate, pastRequest } from '../../core/backtest.ts';
import { missionPolicy } from '../../core/policy-document.ts';
import { parsePolicyDocument } from '../../core/policy-yaml.ts';
import { seededRandom } from './seeded-random.ts';

const mission = missionPolicy(
  parsePolicyDocument(`
mission: shop
defaults: { approverRole: clerk }
actions:
  refund:
    policy: approval_gate
    reason: Money
    rules:
      - { id: small, when: 'args.amount <= 50.0', then: allow }
      - { id: huge, when: 'args.amount > 5000.0', then: stop }
`),
);

const answers: Record<Fate, object> = {
  ran: { status: 'APPROVED', approvals: [], decision: { source: 'policy' } },
  stopped: { status: 'REJECTED', approvals: [], decision: { source: 'policy' } },
  approved: { status: 'APPROVED', decision: { source: 'human' } },
  refused: { status: 'REJECTED', decision: { source: 'human' } },
  responded: { status: 'RESPONDED', decision: { source: 'human' } },
  unanswered: { status: 'TIMED_OUT', decision: { source: 'timeout' } },
  withdrawn: { status: 'CANCELLED' },
  waiting: { status: 'PENDING' },
};
let number = 0;
const past = (fate: Fate, amount: number | string, more: object = {}) =>
  pastRequest.parse({
    requestId: `request-${++number}`,
    runId: 'run',
    missionId: 'shop',
    actionName: 'refund',
    actionArgs: { amount },
    requestedBy: 'bot',
    requestedAt: '2026-01-01T12:00:00.000Z',
    approvals: [{ role: 'clerk', count: 1 }],
    ...answers[fate],
    ...more,
  });

test('a generated history with known answers has exactly the matrix that it was generated from', () => {
  const random = seededRandom(3).next;
  const fates = Object.keys(answers) as Fate[];
  const amounts = { allow: [0, 50], pause: [50.01, 5000], stop: [5000.01, 1e6] } as const;
  const expected = Object.fromEntries(fates.map((fate) => [fate, { allow: 0, pause: 0, stop: 0 }]));
  const history = Array.from({ length: 2000 }, () => {
    const fate = fates[Math.floor(random() * fates.length)] ?? 'ran';
    const effect = (['allow', 'pause', 'stop'] as const)[Math.floor(random() * 3)] ?? 'stop';
    const [low, high] = amounts[effect];
    const row = expected[fate];
    if (row) row[effect] += 1;
    return past(
      fate,
      random() < 0.2 ? low : random() < 0.2 ? high : Number((low + random() * (high - low)).toFixed(2)),
    );
  });
  const result = backtest(mission, history);
  expect(result.matrix).toEqual(expected);
  const cell = (fate: Fate, effect: 'allow' | 'pause' | 'stop') => expected[fate]?.[effect] ?? 0;
  const silent: Fate[] = ['responded', 'unanswered', 'withdrawn', 'waiting'];
  expect(result.changes).toEqual({
    'prompt vanishes': cell('approved', 'allow'),
    'refusal let through': cell('refused', 'allow'),
    'other prompt vanishes': silent.reduce((sum, fate) => sum + cell(fate, 'allow'), 0),
    'newly asked': cell('ran', 'pause') + cell('stopped', 'pause'),
    'newly stopped': [...silent, 'approved' as const, 'ran' as const].reduce(
      (sum, fate) => sum + cell(fate, 'stop'),
      0,
    ),
    'refused by rule': cell('refused', 'stop'),
    'no longer stopped': cell('stopped', 'allow'),
  });
});

test('what people took back counts as refused, what nobody claimed as what it was before', () => {
  const revoked = (source: string, approvals: object[]) =>
    past('approved', 20, { status: 'REVOKED', decision: { source }, approvals });
  const clerk = [{ role: 'clerk', count: 1 }];
  const { replayed } = backtest(mission, [revoked('human', clerk), revoked('timeout', clerk), revoked('timeout', [])]);
  expect(replayed.map(({ fate }) => fate)).toEqual(['refused', 'approved', 'ran']);
});

test('an unreadable amount still asks; other missions are left out and masked values are counted', () => {
  const hidden = { actionArgs: { amount: 20, card: '[hidden by policy, 16 characters]' } };
  const result = backtest(mission, [
    past('approved', '20'),
    past('approved', 20, hidden),
    past('ran', 20, { missionId: 'other' }),
  ]);
  expect(result.replayed.map(({ now, change, matched }) => [now, change, matched])).toEqual([
    ['pause', undefined, ['small', 'huge']],
    ['allow', 'prompt vanishes', ['small']],
  ]);
  expect(result).toMatchObject({ otherMissions: 1, masked: 1 });
});
