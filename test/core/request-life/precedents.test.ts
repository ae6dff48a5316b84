import { describe, expect, test } from 'vitest';
import { MemoryStore } from '../../../adapters/memory/store.ts';
import type { JsonObject } from '../../../core/json.ts';
import { viewOf } from '../../../core/request-view.ts';
import { listPrecedents } from '../../../core/use-cases/list-precedents.ts';
import { readAudit } from '../../../core/use-cases/read-audit.ts';
import { revokePrecedent } from '../../../core/use-cases/revoke-precedent.ts';
import { delegating } from './altered-store.ts';
import { bot, Desk, otherBot, people, refusal } from './desk.ts';

const { alice, bob, dora } = people;

const policy = `
mission: default
defaults: { approverRole: support_agent, timeoutSeconds: 600 }
actions:
  pay:
    policy: approval_novel
    noveltyKey: [/vendor, /account/iban]
    reason: The first payment to a vendor
    rules:
      - { id: huge, when: 'args.amount > 1000.0', then: pause, reason: A large one }
      - { id: blocked, when: 'args.vendor == "evil"', then: stop, reason: Blocked }
      - { id: tiny, when: 'args.amount < 1.0', then: allow, reason: Pennies }
  greet: { policy: approval_novel, reason: Each one is new }
  look: { policy: autonomous, reason: Read-only }
`;

const args = (more: JsonObject = {}): JsonObject => ({ vendor: 'acme', account: { iban: 'DE1' }, amount: 5, ...more });

class Novel extends Desk {
  constructor(store = new MemoryStore()) {
    super({ store, policy });
  }

  pay = async (more: JsonObject = {}, body: JsonObject = {}) =>
    (await this.ask('pay', { actionArgs: args(more), ...body })).state;

  /** Asked, approved by alice and claimed. */
  async paid(more: JsonObject = {}): Promise<string> {
    const { requestId } = await this.pay(more);
    await this.vote(requestId, alice, 'approve');
    await this.claim(requestId);
    return requestId;
  }

  list = (actionName = 'pay', query: Record<string, string> = {}) =>
    listPrecedents(this, { missionId: 'default', principal: bob, query: { actionName, ...query } });

  take(precedentId: string, principal = alice, reason = 'The vendor was hacked') {
    const revoking = { missionId: 'default', precedentId, body: { reason }, principal, until: this.world.in(5) };
    return revokePrecedent(this, revoking);
  }
}

describe('a precedent', () => {
  test('given an approval that was claimed, then the same values run by themselves, and the request says why', async () => {
    const desk = new Novel();
    const first = await desk.paid();
    const { status, decision, precedent, requestId } = (await desk.pay({ amount: 7, note: 'other' })) as never as {
      status: string;
      decision: object;
      precedent: { precedentId: string; requestId: string };
      requestId: string;
    };
    expect({ status, decision }).toMatchObject({ status: 'APPROVED', decision: { source: 'policy' } });
    expect(precedent.requestId).toBe(first);
    expect(viewOf(await desk.read(requestId), bot)).toMatchObject({ precedent });
    const entries = await desk.store.entries('run-1', 0, 10);
    const details = entries.map(({ canonical }) => JSON.parse(canonical).details);
    expect(details.find((one) => one.claimId)).toMatchObject({ precedentId: precedent.precedentId });
    expect(details.at(-1)).toMatchObject({ precedent });
    expect((await desk.verify()).intact).toBe(true);
  });

  test('given only an approval, a rejection, a cancellation or a timeout, then there is none', async () => {
    const desk = new Novel();
    const approved = await desk.pay();
    await desk.vote(approved.requestId, alice, 'approve');
    expect((await desk.pay()).status).toBe('PENDING');
    const rejected = await desk.pay();
    await desk.vote(rejected.requestId, alice, 'reject');
    await desk.cancel((await desk.pay()).requestId);
    await desk.pay();
    desk.world.pass(601);
    await desk.sweep();
    expect((await desk.pay()).status).toBe('PENDING');
    expect((await desk.list()).items).toEqual([]);
  });

  test('given what the policy allowed and was claimed, then there is none: only a person sets one', async () => {
    const desk = new Novel();
    const { requestId, status } = await desk.pay({ amount: 0.5 });
    expect(status).toBe('APPROVED');
    await desk.claim(requestId);
    expect((await desk.pay()).status).toBe('PENDING');
  });

  test('given two novel ones at once, then both ask; and both may be used', async () => {
    const desk = new Novel();
    const both = await Promise.all([desk.pay(), desk.pay({ amount: 6 })]);
    expect(both.map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
    for (const { requestId } of both) await desk.vote(requestId, alice, 'approve');
    for (const { requestId } of both) await desk.claim(requestId);
    const { items } = await desk.list();
    expect(items).toMatchObject([{ requestId: both[0]?.requestId, approvedBy: ['alice'] }]);
    expect((await desk.verify()).intact).toBe(true);
  });

  test.each<[string, JsonObject]>([
    ['another value', { vendor: 'other' }],
    ['a value inside another', { account: { iban: 'DE2' } }],
    ['null', { vendor: null }],
    ['another type', { account: { iban: 1 } }],
  ])('given %s at the novelty key, then it is novel', async (_, other) => {
    const desk = new Novel();
    await desk.paid();
    expect((await desk.pay(other)).status).toBe('PENDING');
  });

  test('given a missing value, then that is a value of its own', async () => {
    const desk = new Novel();
    const without = (extra: JsonObject = {}) =>
      desk.ask('pay', { actionArgs: { vendor: 'acme', amount: 5, ...extra } });
    const { requestId } = (await without()).state;
    await desk.vote(requestId, alice, 'approve');
    await desk.claim(requestId);
    expect((await without()).state.status).toBe('APPROVED');
    expect((await without({ account: {} })).state.status).toBe('APPROVED');
    expect((await without({ account: { iban: null } })).state.status).toBe('PENDING');
    expect((await without({ account: { iban: '' } })).state.status).toBe('PENDING');
  });

  test('given no novelty key, then each occurrence is novel', async () => {
    const desk = new Novel();
    const { requestId } = (await desk.ask('greet')).state;
    await desk.vote(requestId, alice, 'approve');
    await desk.claim(requestId);
    expect((await desk.ask('greet')).state.status).toBe('PENDING');
    expect((await desk.list('greet')).items).toEqual([]);
  });

  test('given a rule that pauses or stops, then it beats the precedent, with the votes of the policy', async () => {
    const desk = new Novel();
    await desk.paid();
    expect(await desk.pay({ amount: 5000 })).toMatchObject({
      status: 'PENDING',
      approvals: [{ role: 'support_agent', count: 1 }],
      policy: { matched: [{ ruleId: 'huge' }] },
    });
    await desk.paid({ vendor: 'mallory' });
    expect((await desk.pay({ vendor: 'evil' })).status).toBe('REJECTED');
    expect((await desk.pay({ amount: 5000 })).precedent).toBeUndefined();
  });

  test('given an edit, then the edited values are what was approved', async () => {
    const desk = new Novel();
    const { requestId } = await desk.pay({ vendor: 'acmee' });
    await desk.vote(requestId, alice, 'edit', { editedArgs: args() });
    await desk.claim(requestId, { actionArgs: args() });
    expect((await desk.pay()).status).toBe('APPROVED');
    expect((await desk.pay({ vendor: 'acmee' })).status).toBe('PENDING');
  });

  test('given that a person was content with the result of a step, then the step itself is novel still', async () => {
    const desk = new Novel();
    const { requestId } = await desk.pay({}, { phase: 'after' });
    await desk.vote(requestId, alice, 'approve');
    await desk.claim(requestId, { phase: 'after' });
    expect((await desk.pay()).status).toBe('PENDING');
    expect((await desk.pay({}, { phase: 'after' })).status).toBe('APPROVED');
  });

  test('given that it is done for whoever approved the earlier one, then it is asked: nobody approves for themselves', async () => {
    const desk = new Novel();
    await desk.paid();
    expect((await desk.pay({}, { onBehalfOf: 'Alice' })).status).toBe('PENDING');
    expect((await desk.pay({}, { onBehalfOf: 'bob' })).status).toBe('APPROVED');
  });

  test('given another action with the same values, then it is novel', async () => {
    const desk = new Novel();
    await desk.paid();
    expect((await desk.ask('greet', { actionArgs: args() })).state.status).toBe('PENDING');
  });

  test('given an action that is not approval_novel, then nothing more is read; for one that is, one read', async () => {
    const desk = new Novel();
    const reads: string[] = [];
    const counted = delegating(desk.store);
    desk.store = {
      ...counted,
      readPrecedent: (key) => {
        reads.push(key.precedentId);
        return counted.readPrecedent(key);
      },
    };
    await desk.ask('look');
    await desk.ask('greet');
    expect(reads).toHaveLength(0);
    await desk.pay();
    expect(reads).toHaveLength(1);
  });
});

describe('taking a precedent back', () => {
  test('given a reason, then it is novel again, and the audit says who and why', async () => {
    const desk = new Novel();
    const first = await desk.paid();
    const [precedent] = (await desk.list()).items;
    const revoked = await desk.take(precedent?.precedentId ?? '');
    expect(revoked).toEqual({ ...precedent, revoked: { by: 'alice', at: desk.world.now() } });
    expect((await desk.pay()).status).toBe('PENDING');
    expect(await desk.audit(first)).toEqual([
      'request_created',
      'request_approved',
      'approval_claimed',
      'precedent_revoked',
    ]);
    const { items } = await readAudit(desk, { runId: 'run-1' });
    const entry = items.find((item) => 'type' in item && item.type === 'precedent_revoked');
    expect(entry).toMatchObject({ actor: { kind: 'person', id: 'alice' } });
    expect(JSON.stringify(entry)).toMatch('The vendor was hacked');
    expect((await desk.verify()).intact).toBe(true);
  });

  test('given it again, then the same answer and nothing more in the audit', async () => {
    const desk = new Novel();
    const first = await desk.paid();
    const [precedent] = (await desk.list()).items;
    const once = await desk.take(precedent?.precedentId ?? '');
    desk.world.pass(5);
    expect(await desk.take(precedent?.precedentId ?? '', { ...bob, roles: ['support_agent'] })).toEqual(once);
    expect(await desk.audit(first)).toHaveLength(4);
  });

  test('given a new approval after it, then it is set again', async () => {
    const desk = new Novel();
    await desk.paid();
    const [precedent] = (await desk.list()).items;
    await desk.take(precedent?.precedentId ?? '');
    desk.world.pass(1);
    const again = await desk.paid();
    expect((await desk.list()).items).toMatchObject([{ requestId: again }]);
    expect((await desk.list()).items[0]).not.toHaveProperty('revoked');
    expect((await desk.pay()).status).toBe('APPROVED');
  });

  test('given an approval from before it that is claimed after it, then that sets none', async () => {
    const desk = new Novel();
    const early = await desk.pay();
    await desk.vote(early.requestId, alice, 'approve');
    await desk.paid({ amount: 6 });
    desk.world.pass(1);
    const [precedent] = (await desk.list()).items;
    await desk.take(precedent?.precedentId ?? '');
    await desk.claim(early.requestId);
    expect((await desk.list()).items).toMatchObject([{ revoked: { by: 'alice' } }]);
    expect((await desk.pay()).status).toBe('PENDING');
  });

  test('given a revocation between the read and the write of a create, then it pauses', async () => {
    const desk = new Novel();
    await desk.paid();
    const [precedent] = (await desk.list()).items;
    const plain = desk.store;
    let between: (() => Promise<unknown>) | undefined = () => desk.take(precedent?.precedentId ?? '');
    desk.store = {
      ...delegating(plain),
      async commit(change, until) {
        const first = between;
        between = undefined;
        if (first && change.entry.type === 'request_created') {
          desk.store = plain;
          await first();
        }
        return plain.commit(change, until);
      },
    };
    expect((await desk.pay()).status).toBe('PENDING');
  });

  test('given what does not exist, nobody entitled, no reason or another field, then a refusal and no trace', async () => {
    const desk = new Novel();
    const first = await desk.paid();
    const [precedent] = (await desk.list()).items;
    const id = precedent?.precedentId ?? '';
    await refusal(desk.take('x'), 'NOT_FOUND');
    await refusal(desk.take('x'.repeat(86)), 'NOT_FOUND');
    await refusal(desk.take(id, dora), 'NOT_AN_APPROVER');
    await refusal(desk.take(id, bot), 'FORBIDDEN');
    await refusal(desk.take(id, alice, ' '), 'VALIDATION_FAILED');
    const elsewhere = { missionId: 'other', precedentId: id, body: { reason: 'r' }, principal: alice };
    await refusal(revokePrecedent(desk, { ...elsewhere, until: desk.world.in(5) }), 'NOT_FOUND');
    expect(await desk.audit(first)).toHaveLength(3);
  });
});

describe('the list', () => {
  test('given an agent, then FORBIDDEN; given no action, then VALIDATION_FAILED', async () => {
    const desk = new Novel();
    await desk.paid();
    const list = (principal: typeof bot, query: Record<string, string>) =>
      listPrecedents(desk, { missionId: 'default', principal, query });
    await refusal(list(otherBot, { actionName: 'pay' }), 'FORBIDDEN');
    await refusal(list(bob, {}), 'VALIDATION_FAILED');
    expect((await list({ ...bob, scopes: ['audit'] }, { actionName: 'pay' })).items).toHaveLength(1);
  });

  test('given values, then it holds none of them', async () => {
    const desk = new Novel();
    await desk.paid();
    const { items } = await desk.list();
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items)).not.toMatch(/acme|DE1/);
    expect(items[0]).toMatchObject({
      actionName: 'pay',
      noveltyKey: ['/vendor', '/account/iban'],
      approvedBy: ['alice'],
    });
  });
});
