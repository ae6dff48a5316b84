import { expect, test } from 'vitest';
import { countersign, Folder } from './command-line.ts';

const findings = `
mission: shop
defaults: { approverRole: clerk, timeoutSeconds: 60 }
actions:
  pay: { policy: dual_approval, approverRole: boss, reason: Money }
rules:
  - { id: gap, when: 'args.amount > 5.0 && args.amount < 3.0', then: stop }
`;

test('a policy without findings is exit code 0, one with findings 1, each with its place, why, and what to do', async () => {
  using folder = new Folder();
  const clean = await countersign(['policy', 'check', 'policies/default.yaml']);
  expect(clean).toEqual({ code: 0, out: 'policies/default.yaml: nothing found\n', errors: '' });

  const file = folder.file('policy.yaml', findings);
  const roles = folder.file('roles.yaml', 'boss: [ada]\nclerk: [ada, bob]\n');
  const { code, out } = await countersign(['policy', 'check', file, '--roles', roles]);
  expect(code).toBe(1);
  expect(out).toContain('quorum-nobody-can-meet: /actions/pay\n  why: pay needs 2 × boss;');
  expect(out).toContain('timeout-too-short: /defaults/timeoutSeconds');
  expect(out).toContain('never-matches: /rules/0/when (rule gap)');
  expect(out).toContain('3 findings');

  const met = await countersign(['policy', 'check', file, '--roles', roles, '--roles', 'boss=eve', '--json']);
  expect(JSON.parse(met.out).findings.map(({ kind }: { kind: string }) => kind)).toEqual([
    'timeout-too-short',
    'never-matches',
  ]);
});

test('an invalid policy is exit code 1 with every problem; control characters are named, not printed', async () => {
  using folder = new Folder();
  const file = folder.file(
    'policy.json',
    JSON.stringify({ mission: 'm', defaults: { approverRole: 'a', '\u001b[31m': 1 }, actions: { pay: {} } }),
  );
  const { code, out } = await countersign(['policy', 'check', file]);
  expect(code).toBe(1);
  expect(out).toContain('invalid: /defaults does not know');
  expect(out).toContain('invalid: /actions/pay/reason is missing');
  expect(out).not.toContain('\u001b');
});

test('wrongly called is exit code 2, and help is there everywhere', async () => {
  const wrong = [
    ['policy', 'check'],
    ['policy', 'check', 'no-such-file'],
    ['policy', 'check', 'a', '--no-such'],
    ['bake'],
  ];
  const ended = await Promise.all(
    [...wrong, ['--help'], ['policy', 'check', '--help']].map((args) => countersign(args)),
  );
  expect(ended.map(({ code }) => code)).toEqual([2, 2, 2, 2, 0, 0]);
  expect(ended.at(-2)?.out).toContain('policy check');
  expect(ended.at(-1)?.out).toContain('--roles');
});
