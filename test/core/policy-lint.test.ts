import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { canBeTrue, formulaOf, implies } from '../../core/condition-logic.ts';
import { lintPolicy } from '../../core/policy-lint.ts';
import { parsePolicyDocument } from '../../core/policy-yaml.ts';

const policy = (actions: object, rules: object[] = [], defaults: object = {}) =>
  parsePolicyDocument(
    JSON.stringify({
      mission: 'm',
      defaults: { approverRole: 'agent', ...defaults },
      actions: Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, { reason: 'r', ...action }])),
      rules,
    }),
  );
const gate = { policy: 'approval_gate' };
const rule = (id: string, when: string, then: string, more: object = {}) => ({ id, when, then, ...more });
const found = (document: ReturnType<typeof policy>, holders?: Record<string, string[]>) =>
  lintPolicy(document, holders && new Map(Object.entries(holders))).map(({ kind, ruleId, place }) =>
    [kind, ruleId, place].filter((part) => part !== undefined).join(' '),
  );

describe('what can never be true', () => {
  test.each([
    ['args.a > 5.0 && args.a < 3.0', false],
    ['args.a > 5.0 && args.a < 6.0', true],
    ['args.a > 5.0 && args.a <= 5.0', false],
    ['args.a >= 5.0 && args.a <= 5.0', true],
    ['args.a >= 5.0 && args.a <= 5.0 && args.a != 5.0', false],
    ['10.0 < args.a && args["a"] < 3.0', false],
    ['args["a.b"] > 5.0 && args.a.b < 3.0', true],
    ['!(args.a < 5.0) && args.a < 5.0', false],
    ['args.a < 3.0 || args.a > 5.0', true],
    ['(args.a < 3.0 || args.a > 5.0) && args.a == 4.0', false],
    ['size(args.list) > 2 && args.list.size() < 3', false],
    ['args.a > 2.0 && args.a < 3.0', true],
    ['args.to == "x" && args.to == "y"', false],
    ['args.to == "x" && args.to in ["y", "z"]', false],
    ['args.to == "x" && args.to > 5.0', false],
    ['type(args.a) == int', false],
    ['type(args.a) == double && args.a == "x"', false],
    ['type(args.a) == type("x")', true],
    ['phase == "during" && phase == "before"', false],
    ['!has(args.x) && args.x > 3.0', false],
    ['!has(args.x) || args.x > 3.0', true],
    ['args.list.all(i, i > 2.0) && !args.list.all(i, i > 2.0)', false],
    ['args.list.exists(i, i > 2.0) && args.list.exists(i, i < 1.0)', true],
    ['false', false],
    ['3.0 > 5.0', false],
    ['1 == 1', true],
  ])('%s: %s', (source, possible) => expect(canBeTrue(formulaOf(source))).toBe(possible));

  test('one condition holds wherever another does', () => {
    const over = (first: string, second: string) => implies(formulaOf(first), formulaOf(second));
    expect(over('args.a > 10.0', 'args.a > 5')).toBe(true);
    expect(over('args.a > 5.0', 'args.a > 10.0')).toBe(false);
    expect(over('args.a > 5.0', 'has(args.a)')).toBe(true);
    expect(over('args.a == "x"', 'args.a in ["x", "y"]')).toBe(true);
    expect(over('args.a == "x" && args.b > 1.0', 'args.a == "x"')).toBe(true);
    expect(over('args.a == "x" || args.b > 1.0', 'args.a == "x"')).toBe(false);
  });
});

test('the policy that comes with Countersign has nothing to find', () => {
  expect(lintPolicy(parsePolicyDocument(readFileSync('policies/default.yaml', 'utf8')))).toEqual([]);
});

test('silence that lets run what cannot be taken back', () => {
  const proceeds = { onTimeout: 'proceed', advisory: true };
  const irreversible = { risk: { reversible: false, errorCost: 'high' }, ...proceeds };
  expect(found(policy({ pay: irreversible }))).toEqual(['proceeds-on-irreversible /actions/pay/onTimeout']);
  expect(found(policy({ pay: { ...gate, ...proceeds } }))).toEqual(['proceeds-on-irreversible /actions/pay/onTimeout']);
  const reversible = { risk: { reversible: true, errorCost: 'low' }, ...proceeds };
  expect(found(policy({ draft: reversible }))).toEqual([]);
  const asks = { ...reversible, rules: [rule('long', 'size(args.text) > 500', 'pause')] };
  expect(found(policy({ draft: asks }))).toEqual(['proceeds-on-irreversible long /actions/draft/onTimeout']);
});

test('a quorum that the people there are cannot meet', () => {
  const dual = policy({ pay: { policy: 'dual_approval', approverRole: 'boss' } });
  expect(found(dual)).toEqual([]);
  expect(found(dual, { agent: ['ada'], boss: ['ada', 'bob'] })).toEqual([]);
  expect(found(dual, { agent: ['ada'], boss: ['ada'] })).toEqual(['quorum-nobody-can-meet /actions/pay']);
  const both = [
    { role: 'agent', count: 1 },
    { role: 'boss', count: 1 },
  ];
  const ruled = policy({ pay: { ...gate, rules: [rule('large', 'args.a > 5.0', 'pause', { approvals: both })] } });
  expect(found(ruled, { agent: ['ada'], boss: ['bob'] })).toEqual([]);
  expect(found(ruled, { agent: ['ada'], boss: ['ada'] })).toEqual([
    'quorum-nobody-can-meet large /actions/pay/rules/0',
  ]);
  const [finding] = lintPolicy(ruled, new Map([['agent', ['ada']]]));
  expect(finding?.why).toBe(
    'the rule large needs 1 × agent and 1 × boss; with the people given, 1 × boss will always be missing',
  );
});

test('an escalation that asks the same people again, or nobody', () => {
  const escalates = (to: string[]) => policy({ pay: { ...gate, onTimeout: 'escalate', escalateTo: to } });
  expect(found(escalates(['boss']))).toEqual([]);
  expect(found(escalates(['boss', 'agent']))).toEqual(['escalates-to-the-same /actions/pay/escalateTo/1']);
  expect(found(escalates(['boss']), { agent: ['ada'] })).toEqual(['quorum-nobody-can-meet /actions/pay/escalateTo/0']);
});

test('a timeout too short for e-mail, where people are asked', () => {
  expect(found(policy({ pay: { ...gate, timeoutSeconds: 299 } }))).toEqual([
    'timeout-too-short /actions/pay/timeoutSeconds',
  ]);
  expect(found(policy({ pay: { ...gate, timeoutSeconds: 300 } }))).toEqual([]);
  expect(found(policy({ read: { policy: 'autonomous', timeoutSeconds: 60 } }))).toEqual([]);
  expect(
    found(policy({}, [rule('r', 'args.a > 1.0', 'pause', { timeoutSeconds: 60 })], { timeoutSeconds: 60 })),
  ).toEqual(['timeout-too-short /defaults/timeoutSeconds', 'timeout-too-short r /rules/0/timeoutSeconds']);
});

test('a rule that can never match, also because of where it stands', () => {
  const rules = [rule('gap', 'args.a > 5.0 && args.a < 3.0', 'stop'), rule('mission', 'mission.id == "other"', 'stop')];
  expect(found(policy({ pay: { ...gate, rules: [rule('name', 'action.name == "mail"', 'stop')] } }, rules))).toEqual([
    'never-matches gap /rules/0/when',
    'never-matches mission /rules/1/when',
    'never-matches name /actions/pay/rules/0/when',
  ]);
  expect(
    found(policy({}, [rule('first', 'attempt < 1', 'stop'), rule('sure', 'agent.confidence > 1.0', 'stop')])),
  ).toHaveLength(2);
});

test('a rule that another one always decides', () => {
  const shadowed = (...rules: object[]) => found(policy({ pay: { ...gate, rules } }));
  const small = rule('small', 'args.a <= 50.0', 'allow');
  expect(shadowed(small, rule('any', 'args.a < 100.0', 'pause'))).toEqual(['shadowed small /actions/pay/rules/0']);
  expect(shadowed(small, rule('some', 'args.a < 40.0', 'pause'))).toEqual([]);
  expect(shadowed(small, rule('same', 'args["a"]<=50', 'stop'))).toEqual(['shadowed small /actions/pay/rules/0']);
  expect(shadowed(small, rule('again', 'args.a < 20.0', 'allow'))).toEqual(['shadowed again /actions/pay/rules/1']);
  const boss = { approverRole: 'boss' };
  expect(shadowed(rule('more', 'args.a > 5.0', 'pause'), rule('most', 'args.a > 9.0', 'pause', boss))).toEqual([]);
  expect(shadowed(rule('asks', 'args.a > 9.0', 'pause'), rule('stops', 'args.a > 5.0', 'stop'))).toEqual([
    'shadowed asks /actions/pay/rules/0',
  ]);
  expect(found(policy({ pay: { ...gate, rules: [small] } }, [rule('night', 'true', 'pause')]))).toEqual([
    'shadowed small /actions/pay/rules/0',
  ]);
});
