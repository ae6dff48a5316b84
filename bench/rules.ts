import { createHash } from 'node:crypto';
import { evaluate, factsOf } from '../core/evaluation.ts';
import { checkPolicyDocument, missionPolicy } from '../core/policy-document.ts';

/** A thousand rules, compiled once and judged warm, against hashing 1 MiB in the same run. */
const count = 1_000;
const rounds = 300;

const conditions = (n: number): string =>
  [
    `args.amount > ${n + 1000}.5`,
    `args.currency == "C${n}"`,
    `has(args.to) && args.to.endsWith("@competitor-${n}.example")`,
    `args.currency in ["A${n}", "B${n}"]`,
    `attempt > ${n + 5}`,
  ][n % 5] ?? '';

const mission = missionPolicy(
  checkPolicyDocument({
    mission: 'bench',
    defaults: { approverRole: 'clerk' },
    actions: { pay: { policy: 'autonomous', reason: 'r' } },
    // biome-ignore lint/suspicious/noThenProperty: the word of the language
    rules: Array.from({ length: count }, (_, n) => ({ id: `rule-${n}`, when: conditions(n), then: 'stop' })),
  }),
);
const policy = mission.actions.get('pay');
if (!policy) throw new Error('the mission has no action pay');

/** One request: its facts are converted once, and every rule looks at them. */
function judge(): void {
  const facts = factsOf({
    actionName: 'pay',
    actionArgs: { amount: 250, currency: 'EUR', to: 'ada@customer.example', note: 'Thank you' },
    runId: 'run-1',
    missionId: 'bench',
    phase: 'before',
    requestedBy: 'support-bot',
    now: '2026-11-30T14:00:00.000Z',
    attempt: 1,
  });
  const { effect, matched } = evaluate(policy as NonNullable<typeof policy>, mission, facts);
  if (effect !== 'allow' || matched.length > 0) throw new Error(`judged ${effect} by ${matched.length} rules`);
}

const mebibyte = Buffer.alloc(2 ** 20, 7);
const hash = (): void => void createHash('sha256').update(mebibyte).digest();

/** Processor time of one, over so many that a coarse clock does not matter. */
function milliseconds(work: () => void, times: number): number {
  const before = process.threadCpuUsage();
  for (let time = 0; time < times; time++) work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000 / times;
}

for (let warm = 0; warm < 100; warm++) judge();
const judged = milliseconds(judge, rounds);
const hashed = milliseconds(hash, 4 * rounds);
process.stdout.write(
  `${count} rules ${judged.toFixed(2)} ms, hashing 1 MiB ${hashed.toFixed(2)} ms: ratio ${(judged / hashed).toFixed(2)}\n`,
);
