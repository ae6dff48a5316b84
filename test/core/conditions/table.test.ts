import { describe, expect, test } from 'vitest';
import { compileCondition } from '../../../core/condition.ts';
import { evaluate, factsOf, type Step } from '../../../core/evaluation.ts';
import type { ActionPolicy, Effect } from '../../../core/policy.ts';
import { type Made, rows } from './table-rows.ts';

const beginning: Step = {
  actionName: 'pay',
  actionArgs: {},
  runId: 'run-1',
  missionId: 'test',
  phase: 'before',
  requestedBy: 'support-bot',
  now: '2026-11-30T14:00:00.000Z',
  attempt: 1,
};

const policyOf = (own: Effect, rule: { when: string; then: Effect }): ActionPolicy =>
  ({
    policy: own === 'allow' ? 'autonomous' : 'approval_gate',
    reason: 'r',
    approverRole: 'clerk',
    approvals: own === 'allow' ? [] : [{ role: 'clerk', count: 1 }],
    timeoutSeconds: 60,
    onTimeout: 'reject',
    escalateTo: [],
    validForSeconds: 60,
    secretPaths: [],
    rules: [
      { id: 'it', condition: compileCondition(rule.when, new Set(['day'])), effect: rule.then, reason: 'because' },
    ],
  }) as unknown as ActionPolicy;

/** Written down, not worked out: what a rule's effect and a policy of its own come to. */
const expected: Record<string, Record<Effect, Record<'allow' | 'pause', Effect>>> = {
  true: {
    allow: { allow: 'allow', pause: 'allow' },
    pause: { allow: 'pause', pause: 'pause' },
    stop: { allow: 'stop', pause: 'stop' },
  },
  false: {
    allow: { allow: 'allow', pause: 'pause' },
    pause: { allow: 'allow', pause: 'pause' },
    stop: { allow: 'allow', pause: 'pause' },
  },
  unreadable: {
    allow: { allow: 'pause', pause: 'pause' },
    pause: { allow: 'pause', pause: 'pause' },
    stop: { allow: 'pause', pause: 'pause' },
  },
};

const judged = (own: Effect, when: string, then: Effect, step: Step) =>
  evaluate(policyOf(own, { when, then }), { rules: [] }, factsOf(step));

const shortened = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text;
};

test('the table has at least 150 rows, of every kind', () => {
  expect(rows.length).toBeGreaterThanOrEqual(150);
  const kinds: Made[] = [true, false, 'unreadable'];
  for (const kind of kinds) expect(rows.filter(([, , made]) => made === kind).length).toBeGreaterThan(40);
});

describe('a condition over a step', () => {
  test.each(rows.map(([when, args, made, more = {}]) => ({ when, args, made, more, shown: shortened(args) })))(
    '$when with $shown is $made',
    ({ when, args, made, more }) => {
      const step = { ...beginning, ...more, actionArgs: args };
      for (const own of ['allow', 'pause'] as const)
        for (const then of ['allow', 'pause', 'stop'] as const) {
          const { effect, matched } = judged(own, when, then, step);
          expect({ own, then, effect }).toEqual({ own, then, effect: expected[String(made)]?.[then][own] });
          if (made === 'unreadable')
            expect(matched).toEqual([
              { ruleId: 'it', effect: 'pause', reason: expect.stringMatching(/^could not be evaluated: ./) },
            ]);
          else expect(matched).toEqual(made ? [{ ruleId: 'it', effect: then, reason: 'because' }] : []);
        }
    },
  );
});

test('CASE 20: an amount that is a text pauses, and the reason says that the rule could not be evaluated and why', () => {
  const { effect, matched } = judged('allow', 'args.amount > 500.0', 'allow', {
    ...beginning,
    actionArgs: { amount: '5000' },
  });
  expect(effect).toBe('pause');
  expect(matched[0]?.reason).toBe(
    "could not be evaluated: found no matching overload for '_>_' applied to '(string, double)'",
  );
});
