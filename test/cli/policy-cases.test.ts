import { expect, test } from 'vitest';
import { countersign, Folder } from './command-line.ts';

const policy = (bound: string) => `
mission: shop
defaults: { approverRole: clerk }
actions:
  refund:
    policy: autonomous
    reason: Small ones go back
    rules: [{ id: large, when: 'args.amount ${bound}', then: pause }]
`;
const cases = `
- { name: small, action: refund, args: { amount: 20 }, expect: allow, rules: [] }
- { name: "la\\u001brge", action: refund, args: { amount: 900 }, expect: pause, rules: [large], approvals: [{ role: clerk, count: 1 }] }
`;

test('cases that hold are exit code 0; one that does not is 1 and says what came instead', async () => {
  using folder = new Folder();
  const table = folder.file('cases.yaml', cases);
  const holds = await countersign(['policy', 'test', folder.file('policy.yaml', policy('> 500.0')), table]);
  expect(holds).toMatchObject({ code: 0, errors: '' });
  expect(holds.out).toContain('ok  small');
  expect(holds.out).toContain('la‹U+001B›rge');
  expect(holds.out).not.toContain('\u001b');
  expect(holds.out).toContain('2 cases, 0 failed');

  const fails = await countersign(['policy', 'test', folder.file('wrong.yaml', policy('> 5.0')), table]);
  expect(fails.code).toBe(1);
  expect(fails.out).toMatch(/FAIL {2}small .* pause .* large .* expected allow; expected the rules none/);
  expect(fails.out).toContain('2 cases, 1 failed');
});

test('a table that is not one is exit code 2 and says why', async () => {
  using folder = new Folder();
  const file = folder.file('policy.yaml', policy('> 500.0'));
  const { code, errors } = await countersign([
    'policy',
    'test',
    file,
    folder.file('cases.json', '[{"action": "refund"}]'),
  ]);
  expect(code).toBe(2);
  expect(errors).toContain('/0/expect');
});

test('mutate names a planted off-by-one that no case notices, and the request it prints makes the table notice it', async () => {
  using folder = new Folder();
  const file = folder.file('policy.yaml', policy('> 500.0'));
  const before = await countersign(['policy', 'mutate', file, folder.file('cases.yaml', cases)]);
  expect(before.code).toBe(1);
  expect(before.out).toContain(
    '/actions/refund/rules/0/when (rule large): no case notices args.amount > 500.0 → args.amount >= 500.0',
  );
  expect(before.out).toContain('add: - {"action":"refund","args":{"amount":500},"expect":"allow"}');

  const added = before.out.split('\n').flatMap((line) => line.match(/add: (- .*)/)?.[1] ?? []);
  const fuller = folder.file('fuller.yaml', `${cases}${[...new Set(added)].join('\n')}\n`);
  const after = await countersign(['policy', 'mutate', file, fuller]);
  expect(after).toMatchObject({
    code: 0,
    out: '8 mutants, 8 noticed, 0 to notice, 0 that nothing found tells apart\n',
  });

  const planted = await countersign(['policy', 'test', folder.file('planted.yaml', policy('>= 500.0')), fuller]);
  expect(planted.code).toBe(1);
});

test('cases that fail already are said to, before anything is mutated', async () => {
  using folder = new Folder();
  const file = folder.file('policy.yaml', policy('> 5.0'));
  const { code, errors } = await countersign(['policy', 'mutate', file, folder.file('cases.yaml', cases)]);
  expect({ code, errors }).toEqual({
    code: 1,
    errors: '1 of 2 cases fail for the policy as it is: see countersign policy test\n',
  });
});
