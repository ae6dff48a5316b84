import { describe, expect, test } from 'vitest';
import { compileCondition } from '../../../core/condition.ts';
import { CountersignError } from '../../../core/errors.ts';
import { checkPolicyDocument } from '../../../core/policy-document.ts';

function refusalOf(when: string): string {
  try {
    compileCondition(when, new Set(['day']));
  } catch (error) {
    expect(error).toBeInstanceOf(CountersignError);
    expect((error as CountersignError).code).toBe('POLICY_INVALID');
    return (error as CountersignError).message;
  }
  throw new Error(`was not refused: ${when}`);
}

describe('refused when it is read', () => {
  test.each([
    ['arg.amount > 1.0', 'there is no arg; a condition may name args, result, action, run'],
    ['amount > 1.0', 'there is no amount; a condition may name args'],
    ['args.items.exists(i, j > 1.0)', 'there is no j'],
    ['args.items.exists(i, i > 1.0) && i > 1.0', 'there is no i'],
    ['action.args == 1', 'there is no action.args; there is action.name'],
    ['agent.role == "a"', 'there is no agent.role; there is agent.name, agent.confidence'],
    ['has(agent.role)', 'there is no agent.role'],
    ['subject.name == "a"', 'there is no subject.name; there is subject.id'],
    ['phase.name == "a"', 'phase has no members'],
    ['now.year == 1', 'now has no members'],
    ['window.week.sum > 1.0', 'there is no window week; the policy declares day'],
    ['window.day.average > 1.0', 'a window has sum and count, no average'],
    ['args.to.endswith("a")', 'there is no function endswith()'],
    ['len(args.to) > 1', 'there is no function len()'],
    ['args.items.exists(i, v, v > 1.0)', 'there is no function exists()'],
    ['args.items.transformList(i, v, v) == []', 'there is no function transformList()'],
    ['Policy{name: "a"} == null', 'there is no message type Policy'],
    ['args.to.matches(args.pattern)', 'the pattern of matches() must be a constant text'],
    ['args.to.matches("a" + "b")', 'the pattern of matches() must be a constant text'],
    ['args.to.matches("(")', 'which is no RE2 expression'],
    ['args.to.matches("(?=a)")', 'which is no RE2 expression'],
    ['args.to.matches("(a)\\\\1")', 'which is no RE2 expression'],
    ['args.to.matches("(a{1000}){1000}")', 'which is no RE2 expression'],
    ['args.amount >', 'is no CEL'],
    ['args.amount => 5', 'is no CEL'],
    ['args.amount > 5; true', 'is no CEL'],
    ['', 'is no CEL'],
    ["args.to == 'a", 'is no CEL'],
    ['args.`two words` == 1.0', 'is no CEL'],
    ['1', 'names no fact and comes to no yes or no'],
    ['"yes"', 'names no fact and comes to no yes or no'],
    ['null', 'names no fact and comes to no yes or no'],
    ['[true]', 'names no fact and comes to no yes or no'],
    ['1 + 1', 'names no fact and comes to no yes or no'],
    ['1 / 0 == 1', 'names no fact and comes to no yes or no'],
  ])('%s', (when, message) => {
    expect(refusalOf(when)).toContain(message);
  });

  test('what is nested ten thousand deep is compiled or refused, and ends nothing', () => {
    for (const [open, inner, close] of [
      ['(', 'true', ')'],
      ['!', 'true', ''],
      ['[', '', ']'],
      ['{1:', '1', '}'],
      ['true ? true : ', 'true', ''],
      ['args.x(', '', ')'],
      ['-', '1', ''],
    ] as const) {
      const when = open.repeat(10_000) + inner + close.repeat(10_000);
      let refused: unknown;
      try {
        expect(compileCondition(when).evaluate({ bindings: {}, work: { left: 1e6 } })).toEqual(expect.any(Object));
      } catch (error) {
        refused = error;
      }
      if (refused !== undefined) expect(refused).toBeInstanceOf(CountersignError);
    }
  });

  test('in a policy document: with its place, and what is too long', () => {
    const document = (when: string) => ({
      mission: 'm',
      defaults: { approverRole: 'clerk' },
      actions: {},
      // biome-ignore lint/suspicious/noThenProperty: the word of the language
      rules: [{ id: 'a', when, then: 'stop' }],
    });
    expect(() => checkPolicyDocument(document('arg.x'))).toThrow(/\/rules\/0\/when there is no arg;/);
    expect(() => checkPolicyDocument(document(`args.x == "${'x'.repeat(2000)}"`))).toThrow(/at most 2000 characters/);
    expect(() => checkPolicyDocument(document('args.x == 1.0'))).not.toThrow();
  });
});

describe('allowed', () => {
  test.each([
    'args.items.exists(args, args > 1.0)',
    'args.items.exists(phase, phase.name == "x")',
    'args.items.exists(window, window.anything.at.all == 1.0)',
    'args.items.all(i, i.parts.all(j, j.size() > i.size()))',
    'has(args.a.b.c)',
    'true',
    'args.phase.name == "a"',
    'window.day.sum + args.amount > 500.0',
  ])('%s', (when) => {
    expect(compileCondition(when, new Set(['day'])).source).toBe(when);
  });
});
