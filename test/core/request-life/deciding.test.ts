import { describe, expect, test } from 'vitest';
import { isCalled } from '../../../core/principal.ts';
import { Desk, otherBot, people, refusal } from './desk.ts';

const { alice, bob, carol, dan, fay, fred, sue, dora } = people;

describe('one decision', () => {
  test('CASE 2: given a decided request, when its approver repeats the vote, then the same answer; another word conflicts', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    const decided = await desk.vote(requestId, alice, 'approve');
    expect(await desk.vote(requestId, alice, 'approve')).toEqual(decided);
    const error = await refusal(desk.vote(requestId, alice, 'reject'), 'VOTE_CONFLICT');
    expect(error.members).toMatchObject({ status: 'APPROVED', decision: { decidedBy: ['alice'] } });
    expect(await desk.audit()).toEqual(['request_created', 'request_approved']);
  });

  test('CASE 1 (logic): given a rejected request, when others come, then each is told who decided', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('refund')).state;
    await desk.vote(requestId, alice, 'reject');
    const error = await refusal(desk.vote(requestId, bob, 'approve'), 'ALREADY_DECIDED');
    expect(error.members).toMatchObject({ decision: { word: 'reject', source: 'human', decidedBy: ['alice'] } });
    desk.world.pass(100_000);
    await refusal(desk.vote(requestId, bob, 'approve'), 'ALREADY_DECIDED');
    expect((await desk.state(requestId)).status).toBe('REJECTED');
  });

  test('CASE 5 (logic): given dual approval, when one person votes twice, then it counts once; when two vote at once, then approved', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('refund')).state;
    await desk.vote(requestId, alice, 'approve');
    expect(await desk.vote(requestId, alice, 'approve')).toMatchObject({
      status: 'PENDING',
      votes: [{ approver: 'alice' }],
    });
    const other = (await desk.ask('refund')).state.requestId;
    await Promise.all([desk.vote(other, alice, 'approve'), desk.vote(other, bob, 'approve')]);
    expect(await desk.state(other)).toMatchObject({ status: 'APPROVED', decision: { decidedBy: ['alice', 'bob'] } });
    expect(await desk.audit(other)).toEqual(['request_created', 'vote_recorded', 'request_approved']);
  });

  test('CASE 6: given one of finance and one of security, when two of finance approve, then still pending', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('pay')).state;
    await desk.vote(requestId, fay, 'approve');
    expect((await desk.vote(requestId, fred, 'approve')).status).toBe('PENDING');
    expect((await desk.vote(requestId, sue, 'approve')).status).toBe('APPROVED');
  });

  test('CASE 6: given somebody with both roles, when they approve first, then they move to the place that is open', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('pay')).state;
    await desk.vote(requestId, sue, 'approve');
    expect(await desk.vote(requestId, fay, 'approve')).toMatchObject({ status: 'APPROVED' });
  });

  test('CASE 12: given a request whose arguments became B, when somebody approves A, then DIGEST_MISMATCH', async () => {
    const desk = new Desk();
    const { requestId, argsDigest } = (await desk.ask('refund')).state;
    const { effectiveDigest } = await desk.vote(requestId, alice, 'edit', { editedArgs: { to: 'bea@example.org' } });
    const error = await refusal(desk.vote(requestId, bob, 'approve', { argsDigest }), 'DIGEST_MISMATCH');
    expect(error.members).toEqual({ effectiveDigest });
    expect((await desk.state(requestId)).votes).toHaveLength(1);
  });

  test('given a pending request, when an approver turns to a rejection, then it is rejected; not the other way round', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('refund')).state;
    await desk.vote(requestId, alice, 'approve');
    expect((await desk.vote(requestId, alice, 'reject')).status).toBe('REJECTED');
    await refusal(desk.vote(requestId, alice, 'approve'), 'VOTE_CONFLICT');
  });

  test('given an escalation away from them, when earlier approvers come back, then they may withdraw or repeat, nothing else', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('refund')).state;
    await desk.vote(requestId, bob, 'approve');
    desk.world.pass(7200);
    await desk.sweep();
    expect((await desk.vote(requestId, bob, 'approve')).votes).toHaveLength(1);
    await refusal(desk.vote(requestId, bob, 'edit', { editedArgs: { to: 'x' } }), 'NOT_AN_APPROVER');
    await refusal(desk.vote(requestId, dan, 'reject'), 'NOT_AN_APPROVER');
    expect((await desk.vote(requestId, bob, 'reject')).status).toBe('REJECTED');
  });

  test('given people whose role is not asked, when they vote, then NOT_AN_APPROVER, which says who is', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('refund')).state;
    expect((await refusal(desk.vote(requestId, carol, 'approve'), 'NOT_AN_APPROVER')).message).toMatch(
      'support_manager',
    );
    await refusal(desk.vote(requestId, dora, 'reject'), 'NOT_AN_APPROVER');
  });

  test.each(['', 0, false, null])('CASE 16: given a response of %j, then it arrives verbatim', async (response) => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send', { actionArgs: { value: response } })).state;
    const decided = await desk.vote(requestId, alice, 'respond', { response });
    expect(decided.status).toBe('RESPONDED');
    const { state, contents } = await desk.read(requestId);
    expect(JSON.parse(contents.get(state.votes[0]?.textDigest ?? '') ?? '')).toMatchObject({ response });
    expect(JSON.parse(contents.get(state.argsDigest) ?? '').actionArgs).toEqual({ value: response });
    expect(await desk.vote(requestId, alice, 'respond', { response })).toEqual(decided);
    await refusal(desk.vote(requestId, alice, 'respond', { response: 'another' }), 'VOTE_CONFLICT');
  });
});

test.each(['', ' ', ' \n\t', '\u200b', '\u00a0\u2800'])(
  'given a rejection whose note is %j, then it is refused; blanks around words are stored as they came',
  async (note) => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    const { message } = await refusal(desk.vote(requestId, alice, 'reject', { note }), 'VALIDATION_FAILED');
    expect(message).toMatch('/note: is needed to reject');
    const { votes } = await desk.vote(requestId, alice, 'reject', { note: `${note} no ` });
    const { contents } = await desk.read(requestId);
    expect(JSON.parse(contents.get(votes[0]?.textDigest ?? '') ?? '')).toMatchObject({ note: `${note} no ` });
  },
);

describe('who', () => {
  test.each([
    'ali\u200bce',
    'alice\u00ad',
    '\u202ealice',
    'mailto:alice@example.org',
    'MAILTO: alice@example.org',
    'Alice <alice@example.org>',
    '<mailto:Alice@Example.org>',
    '\u2060',
    'al\u{e0100}ice',
  ])('given a request for %j, then it is refused or alice may not approve it', async (onBehalfOf) => {
    const desk = new Desk();
    expect(isCalled(alice, onBehalfOf)).toBe(onBehalfOf !== '\u2060');
    const [unseen] = onBehalfOf.match(/[^ -~]/u) ?? [];
    if (unseen !== undefined) {
      const { message } = await refusal(desk.ask('send', { onBehalfOf }), 'VALIDATION_FAILED');
      const code = unseen.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
      expect(message).toMatch(`/onBehalfOf: holds U+${code}`);
      return;
    }
    const { requestId } = (await desk.ask('send', { onBehalfOf })).state;
    await refusal(desk.vote(requestId, alice, 'approve'), 'SELF_APPROVAL');
    expect((await desk.vote(requestId, { ...bob, roles: alice.roles }, 'approve')).status).toBe('APPROVED');
  });

  test('given names of blanks, then they are refused; of other letters, then they are taken', async () => {
    const desk = new Desk();
    for (const field of ['onBehalfOf', 'sourceAgent', 'targetAgent'])
      expect((await refusal(desk.ask('send', { [field]: ' \u3000' }), 'VALIDATION_FAILED')).message).toMatch(
        `/${field}: holds nothing but blanks`,
      );
    await desk.ask('send', { onBehalfOf: 'Zoë Müller-Ōe 王 👩', sourceAgent: 'a b' });
  });

  test.each([
    ['the requester', { principal: { ...otherBot, id: 'alice' } }],
    ['the requester under another name', { principal: { ...otherBot, id: 'ALICE@example.org ' } }],
    ['the subject', { more: { onBehalfOf: 'Alice' } }],
  ])(
    'CASE 49: given %s, when they approve, edit or respond, then SELF_APPROVAL; rejecting is allowed',
    async (_, how) => {
      const { principal, more } = { principal: undefined, more: {}, ...how };
      const desk = new Desk();
      const { requestId } = (await desk.ask('send', more, undefined, principal)).state;
      await refusal(desk.vote(requestId, alice, 'approve'), 'SELF_APPROVAL');
      await refusal(desk.vote(requestId, alice, 'edit', { editedArgs: {} }), 'SELF_APPROVAL');
      await refusal(desk.vote(requestId, alice, 'respond', { response: 1 }), 'SELF_APPROVAL');
      expect((await desk.vote(requestId, alice, 'reject')).status).toBe('REJECTED');
    },
  );

  test.each(['decidedBy', 'status', 'requestedBy', 'policy', 'role'])(
    'CASE 51: given a body with %s, then it is refused, not ignored',
    async (field) => {
      const desk = new Desk();
      const { requestId } = (await desk.ask('send')).state;
      const { message } = await refusal(desk.vote(requestId, alice, 'approve', { [field]: 'x' }), 'VALIDATION_FAILED');
      expect(message).toMatch(`unknown field "${field}"`);
      await refusal(desk.ask('send', { [field]: 'x' }), 'VALIDATION_FAILED');
      await refusal(desk.claim(requestId, { [field]: 'x' }), 'VALIDATION_FAILED');
      expect(await desk.audit()).toEqual(['request_created']);
    },
  );

  test('CASE 50 (logic): given a token without the scope, then FORBIDDEN', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    const roles = alice.roles;
    await refusal(desk.vote(requestId, { ...otherBot, roles }, 'approve'), 'FORBIDDEN');
    await refusal(desk.revoke(requestId, { ...otherBot, roles }), 'FORBIDDEN');
    await refusal(desk.ask('send', {}, undefined, alice), 'FORBIDDEN');
  });

  test('given a note that is too large, then PAYLOAD_TOO_LARGE with the limit, for every word', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    for (const word of ['approve', 'reject']) {
      const error = await refusal(desk.vote(requestId, alice, word, { note: 'é'.repeat(8193) }), 'PAYLOAD_TOO_LARGE');
      expect(error.members).toMatchObject({ bytes: 16_386, limit: 16_384 });
    }
  });
});
