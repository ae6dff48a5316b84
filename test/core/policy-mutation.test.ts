import { describe, expect, test } from 'vitest';
import { mutationsOf } from '../../core/condition-mutation.ts';
import { checkCases, runCase } from '../../core/policy-case.ts';
import { missionPolicy } from '../../core/policy-document.ts';
import { mutantsOf, survivorsOf } from '../../core/policy-mutation.ts';
import { parsePolicyDocument } from '../../core/policy-yaml.ts';

const never = (): never => {
  throw new Error('nothing found');
};
const mutants = (source: string) => mutationsOf(source).map((mutant) => mutant.source);
const policy = (when: string, then = 'pause', more = '') =>
  parsePolicyDocument(`
mission: shop
defaults: { approverRole: clerk }
actions:
  refund: { policy: autonomous, reason: r, rules: [{ id: large, when: '${when}', then: ${then}${more} }] }
`);

describe('mutants of a condition', () => {
  test('each operator is flipped and each bound moved, by one and by its last decimal', () => {
    expect(mutants('args.a > 500.25')).toEqual([
      'args.a >= 500.25',
      'args.a <= 500.25',
      'args.a > 501.25',
      'args.a > 499.25',
      'args.a > 500.26',
      'args.a > 500.24',
    ]);
    expect(mutants('5 == args.a')).toEqual(['5 != args.a', '6 == args.a', '4 == args.a']);
    expect(mutants('!args.a && args.b')).toEqual(['!args.a || args.b', 'args.a && args.b']);
  });

  test('a mutant is a condition like any other, also inside loops and beside text of any kind', () => {
    const source = 'args.note != "😀 > 5" && args.items.all(i, size(i) <= 3 && !has(i.x)) || "k" in args.m';
    for (const mutant of mutationsOf(source)) {
      expect(mutationsOf(mutant.source).length).toBeGreaterThan(0);
      expect(mutant.was).not.toBe(mutant.is);
      expect(mutant.source).not.toBe(source);
    }
    expect(mutants(source)).toContain(
      'args.note != "😀 > 5" && args.items.all(i, size(i) < 3 && !has(i.x)) || "k" in args.m',
    );
    expect(mutants(source)).toContain(
      'args.note != "😀 > 5" && args.items.all(i, size(i) <= 3 && has(i.x)) || "k" in args.m',
    );
    expect(mutants(source)).toHaveLength(9);
  });

  test('effects are swapped, and only the named rule of a policy changes', () => {
    const document = policy('args.amount > 500.0', 'pause', ', approverRole: boss, timeoutSeconds: 900');
    const found = mutantsOf(document);
    expect(found.map(({ was, is }) => `${was} → ${is}`)).toEqual([
      'args.amount > 500.0 → args.amount >= 500.0',
      'args.amount > 500.0 → args.amount <= 500.0',
      'args.amount > 500.0 → args.amount > 501.0',
      'args.amount > 500.0 → args.amount > 499.0',
      'args.amount > 500.0 → args.amount > 500.1',
      'args.amount > 500.0 → args.amount > 499.9',
      'pause → allow',
      'pause → stop',
    ]);
    expect(new Set(found.map(({ place }) => place))).toEqual(
      new Set(['/actions/refund/rules/0/when', '/actions/refund/rules/0/then']),
    );
  });
});

describe('mutants that no case notices', () => {
  const cases = (...amounts: [number, string][]) =>
    checkCases(amounts.map(([amount, expected]) => ({ action: 'refund', args: { amount }, expect: expected })));
  const document = policy('args.amount > 500.0');

  test('an off-by-one that the table of cases would let through is named, with the request that tells', () => {
    const { survivors } = survivorsOf(document, cases([100, 'allow'], [900, 'pause']));
    expect(survivors.map(({ mutant, witness }) => [mutant.is, witness?.args.amount, witness?.expect])).toEqual([
      ['args.amount >= 500.0', 500, 'allow'],
      ['args.amount > 501.0', 501, 'pause'],
      ['args.amount > 499.0', 500, 'allow'],
      ['args.amount > 500.1', 500.1, 'pause'],
      ['args.amount > 499.9', 500, 'allow'],
    ]);
  });

  test('the boundary as cases, and nothing survives', () => {
    expect(survivorsOf(document, cases([500, 'allow'], [500.1, 'pause']))).toEqual({ mutants: 8, survivors: [] });
  });

  test('each request found holds for the policy and fails for its mutant', () => {
    const conditions = [
      'args.amount * args.rate > 100.0',
      'size(args.item_ids) <= 2',
      'args.to.endsWith("@competitor.example") && !(args.kind in ["a", "b"])',
      'args.items.all(i, i.price < 5.5)',
      'has(args.note) && args.note.contains("urgent")',
      'agent.confidence < 0.7 || attempt > 2',
      'phase == "after" && result.status == "failed"',
      'subject.id == "ada" && args.big',
      'double(args.text) >= 3.0',
    ];
    for (const condition of conditions) {
      const { survivors, mutants: all } = survivorsOf(policy(condition, 'stop'), []);
      expect(survivors).toHaveLength(all);
      for (const { mutant, witness } of survivors) {
        if (!witness) throw new Error(`${mutant.was} → ${mutant.is} of ${condition}: nothing found`);
        expect(runCase(missionPolicy(policy(condition, 'stop')), witness).differences).toEqual([]);
        expect(runCase(mutant.mission, witness).differences).not.toEqual([]);
      }
    }
  });

  test('what a window holds is part of a request that notices', () => {
    const windowed = parsePolicyDocument(`
mission: shop
defaults: { approverRole: clerk }
windows: [{ id: day, by: run, value: /amount, over: 24h }]
actions:
  refund:
    policy: autonomous
    reason: r
    rules: [{ id: much, when: 'window.day.sum + args.amount > 500.0 && window.day.count < 3', then: pause }]
`);
    const { survivors } = survivorsOf(windowed, []);
    expect(survivors.map(({ witness }) => witness)).not.toContain(undefined);
    const [off] = survivors.filter(({ mutant }) => mutant.is === 'window.day.count <= 3');
    expect(off?.witness?.windows).toEqual({ day: { sum: expect.any(Number), count: 3 } });
    expect(off && runCase(missionPolicy(windowed), off.witness ?? never()).differences).toEqual([]);
  });

  test('what cannot be told apart has no request: nothing is made up', () => {
    const { survivors } = survivorsOf(policy('args.a > 1.0 || true'), []);
    const never = survivors.filter(({ witness }) => witness === undefined).map(({ mutant }) => mutant.is);
    expect(never).toContain('args.a >= 1.0');
    expect(survivors.find(({ mutant }) => mutant.is === 'stop')?.witness).toEqual({
      action: 'refund',
      args: {},
      expect: 'pause',
    });
  });
});

test('a case says what differs, and an unreadable rule says why', () => {
  const mission = missionPolicy(policy('args.amount > 500.0'));
  const [wrong] = checkCases([
    { action: 'refund', args: { amount: '5000' }, expect: 'allow', rules: [], approvals: [] },
  ]);
  if (!wrong) throw new Error('there is a case');
  const { effect, differences } = runCase(mission, wrong);
  expect(effect).toBe('pause');
  expect(differences).toEqual([
    'expected allow',
    expect.stringContaining('large could not be evaluated'),
    'expected the rules none',
    'expected nobody',
  ]);
  expect(() => checkCases([{ action: 'refund', expects: 'allow' }])).toThrow('unknown field "expects"');
});
