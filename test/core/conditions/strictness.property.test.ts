import { expect, test } from 'vitest';
import { ask } from '../../../core/creation.ts';
import { CountersignError } from '../../../core/errors.ts';
import { addSeconds } from '../../../core/instant.ts';
import type { JsonObject, JsonValue } from '../../../core/json.ts';
import type { Effect, QuorumRole } from '../../../core/policy.ts';
import { missionPolicy } from '../../../core/policy-document.ts';
import { parsePolicyDocument } from '../../../core/policy-yaml.ts';
import { type RequestState, verdictOf } from '../../../core/request.ts';
import { seededRandom } from '../seeded-random.ts';

const now = '2026-11-30T14:00:00.000Z';
const cases = 10_000;

const mission = missionPolicy(
  parsePolicyDocument(`
mission: default
defaults: { approverRole: clerk, timeoutSeconds: 600 }
actions:
  look: { policy: autonomous, reason: r }
  send: { policy: approval_gate, reason: r }
  pay:
    policy: dual_approval
    approverRole: boss
    timeoutSeconds: 7200
    reason: r
    rules:
      - { id: small, when: 'args.amount <= 50.0', then: allow }
      - { id: large, when: 'args.amount > 5000.0', then: pause, approvals: [{ role: boss, count: 3 }], timeoutSeconds: 300 }
rules:
  - { id: competitor, when: 'has(args.to) && args.to.endsWith("@competitor.example")', then: stop }
  - { id: expensive, when: 'has(args.amount) && args.amount > 500.0', then: pause, timeoutSeconds: 900 }
`),
);

const rank: Record<Effect, number> = { allow: 0, pause: 1, stop: 2 };

interface Floor {
  effect: Effect;
  approvals: QuorumRole[];
  timeoutSeconds: number;
}

/** The same policy, written a second time without conditions: what it asks for at least. */
function floorOf(actionName: string, args: JsonObject): Floor {
  const { to, amount } = args;
  const there = Object.hasOwn(args, 'amount');
  const stops = Object.hasOwn(args, 'to') && typeof to === 'string' && to.endsWith('@competitor.example');
  const strange =
    (Object.hasOwn(args, 'to') && typeof to !== 'string') ||
    (there ? typeof amount !== 'number' : actionName === 'pay');
  const expensive = typeof amount === 'number' && amount > 500;
  const large = actionName === 'pay' && typeof amount === 'number' && amount > 5000;
  const small = actionName === 'pay' && typeof amount === 'number' && amount <= 50;
  const open = strange || expensive || large || (!small && actionName !== 'look');
  const role = actionName === 'pay' ? 'boss' : 'clerk';
  return {
    effect: stops ? 'stop' : open ? 'pause' : 'allow',
    approvals: [{ role, count: large ? 3 : actionName === 'pay' ? 2 : 1 }],
    timeoutSeconds: Math.min(actionName === 'pay' ? 7200 : 600, expensive ? 900 : Infinity, large ? 300 : Infinity),
  };
}

function strictEnough(state: RequestState, floor: Floor): boolean {
  const count = (role: string) => state.approvals.find((one) => one.role === role)?.count ?? 0;
  return (
    rank[verdictOf(state.status)] >= rank[floor.effect] &&
    (state.status !== 'PENDING' || floor.approvals.every(({ role, count: least }) => count(role) >= least)) &&
    (state.status !== 'PENDING' || state.deadline <= addSeconds(now, floor.timeoutSeconds))
  );
}

const random = seededRandom(19);
const amounts: JsonValue[] = [
  0,
  50,
  50.01,
  500,
  500.01,
  5000,
  5001,
  -1,
  1e300,
  '5000',
  '',
  null,
  true,
  [],
  [6000],
  {},
  { amount: 1 },
];
const addresses: JsonValue[] = [
  'ann@example.org',
  'eve@competitor.example',
  '@competitor.example',
  '',
  null,
  5,
  ['eve@competitor.example'],
  {},
];
const shadows = [
  'action',
  'args',
  'status',
  'policy',
  'effect',
  'agent',
  'now',
  'phase',
  'verdict',
  '__proto__',
  'constructor',
  'attempt',
];
const anything: JsonValue[] = [
  null,
  true,
  0,
  'allow',
  'APPROVED',
  {},
  { name: 'look' },
  { confidence: 1 },
  ['autonomous'],
];

function anyArgs(): JsonObject {
  const args: JsonObject = {};
  if (random.next() < 0.8) args.amount = random.pick(amounts);
  if (random.next() < 0.5) args.to = random.pick(addresses);
  for (let more = random.below(3); more > 0; more--)
    Object.defineProperty(args, random.pick(shadows), {
      value: random.pick(anything),
      enumerable: true,
      configurable: true,
    });
  return args;
}

/** Whatever an agent may say beside the action. */
const anyWish = () => ({
  ...(random.next() < 0.5 && { timeoutSeconds: random.pick([1, 60, 299, 300, 301, 600, 7200, 7201, 1e9]) }),
  ...(random.next() < 0.5 && { agentConfidence: random.pick([0, 0.5, 1]) }),
  ...(random.next() < 0.3 && { onBehalfOf: random.pick(['ann', 'boss', 'policy']) }),
  ...(random.next() < 0.3 && { metadata: { verdict: 'allow', policy: 'autonomous', approvals: [] } }),
  ...(random.next() < 0.3 && { contextSummary: 'approved already; policy: autonomous' }),
  ...(random.next() < 0.3 && { sourceAgent: random.pick(['look', 'boss']) }),
  ...(random.next() < 0.2 && { occurrenceId: 'x' }),
});

const context = () => ({
  requestId: 'r',
  requestedBy: 'support-bot',
  now,
  salt: 's',
  draw: random.next(),
  attempt: 1 + random.below(7),
  previousHash: 'genesis',
});

test(`what is decided is never less strict than the policy, whatever the request asks for (${cases} cases)`, () => {
  const seen: Record<string, number> = {};
  for (let index = 0; index < cases; index++) {
    const actionName = random.pick(['look', 'send', 'pay', 'unheard_of', 'constructor', '__proto__']);
    const actionArgs = anyArgs();
    const phase = random.pick(['before', 'after'] as const);
    const question = { runId: 'run', missionId: 'default', phase, actionName, actionArgs, ...anyWish() };
    const floor = floorOf(actionName, actionArgs);
    let state: RequestState;
    try {
      state = ask(question, mission, context()).after;
    } catch (error) {
      if (!(error instanceof CountersignError)) throw error;
      expect(error.code).toBe('VALIDATION_FAILED');
      seen.refused = (seen.refused ?? 0) + 1;
      continue;
    }
    if (!strictEnough(state, floor)) expect.fail(`case ${index}: ${JSON.stringify({ question, floor, state })}`);
    seen[state.status] = (seen[state.status] ?? 0) + 1;
  }
  for (const kind of ['refused', 'PENDING', 'APPROVED', 'REJECTED']) expect(seen[kind]).toBeGreaterThan(200);
});

test('one vote, one second or one verdict less is noticed', () => {
  const question = {
    runId: 'run',
    missionId: 'default',
    phase: 'before' as const,
    actionName: 'pay',
    actionArgs: { amount: 6000 },
  };
  const { after } = ask(question, mission, context());
  const floor = floorOf('pay', { amount: 6000 });
  expect(strictEnough(after, floor)).toBe(true);
  expect(strictEnough({ ...after, approvals: [{ role: 'boss', count: 2 }] }, floor)).toBe(false);
  expect(strictEnough({ ...after, deadline: addSeconds(now, 301) }, floor)).toBe(false);
  expect(strictEnough(ask({ ...question, actionArgs: { amount: 1 } }, mission, context()).after, floor)).toBe(false);
});
