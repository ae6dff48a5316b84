import { expect, test } from 'vitest';
import { Desk } from '../request-life/desk.ts';

const policy = `
mission: default
defaults: { approverRole: clerk, timeoutSeconds: 600 }
actions:
  pay:
    policy: autonomous
    reason: Small sums
    onTimeout: proceed
    advisory: true
    rules:
      - { id: large, when: 'args.amount > 500.0', then: pause, approvals: [{ role: manager, count: 1 }], timeoutSeconds: 60 }
`;

const ask = (amount: unknown) => new Desk({ policy }).ask('pay', { actionArgs: { amount } as never });

test('given a pausing rule that cannot be read, then its own approver and its own time count, and what holds without it', async () => {
  const { state } = await ask('900');
  expect(state).toMatchObject({
    status: 'PENDING',
    approvals: [
      { role: 'manager', count: 1 },
      { role: 'clerk', count: 1 },
    ],
    policy: { timeoutSeconds: 60, matched: [{ ruleId: 'large', effect: 'pause' }] },
  });
});

test('given a rule that pauses, then silence lets nothing run', async () => {
  const desk = new Desk({ policy });
  const { state } = await desk.ask('pay', { actionArgs: { amount: 900 } });
  await desk.dispatch(state.requestId);
  desk.world.pass(61);
  await desk.sweep();
  expect((await desk.state(state.requestId)).status).toBe('TIMED_OUT');
});
