import { Desk, people } from './desk.ts';

/**
 * A run to tamper with: 1 refund asked, 2 mail asked, 3 first vote, 4 mail approved, 5 refund approved, 6 claimed,
 * 7 succeeded.
 */
export async function paidRefund(): Promise<{ desk: Desk; refund: string; mail: string }> {
  const desk = new Desk();
  const refund = (await desk.ask('refund')).state.requestId;
  const mail = (await desk.ask('send')).state.requestId;
  await desk.vote(refund, people.alice, 'approve', { note: 'known customer' });
  await desk.vote(mail, people.alice, 'approve');
  await desk.vote(refund, people.bob, 'approve');
  const { claimId } = await desk.claim(refund);
  await desk.report(refund, { claimId, outcome: 'succeeded', result: 'sent' });
  return { desk, refund, mail };
}
