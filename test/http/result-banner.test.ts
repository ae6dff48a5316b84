import { expect, test } from 'vitest';
import { resultBanner } from '../../web/result-banner.ts';
import { Desk, people } from '../core/request-life/desk.ts';

const policy = `
mission: default
defaults: { approverRole: support_agent, validForSeconds: 300 }
actions:
  wire: { policy: approval_gate, holdSeconds: 120, reason: Cannot be called back }
  pay: { policy: approval_novel, noveltyKey: [/to], reason: A first payment }
`;

const banner = async (desk: Desk, requestId: string) => {
  const shown = await resultBanner(await desk.read(requestId), desk.world.now());
  return String(shown).replaceAll(/<[^>]+>|\s+/g, ' ');
};

test('an approval that rests says until when it can be taken back, and no longer once it may be used', async () => {
  const desk = new Desk({ policy });
  const { requestId } = (await desk.ask('wire')).state;
  await desk.vote(requestId, people.alice, 'approve');
  expect(await banner(desk, requestId)).toMatch(/rests until .*14:02.* taken back; then .*support-bot .*14:05/);
  desk.world.pass(120);
  expect(await banner(desk, requestId)).toMatch(/Not used yet: +support-bot/);
  await desk.claim(requestId);
  expect(await banner(desk, requestId)).not.toMatch(/rests|Not used/);
});

test('what a precedent allowed names the request in which a person approved one like it', async () => {
  const desk = new Desk({ policy });
  const first = (await desk.ask('pay')).state.requestId;
  await desk.vote(first, people.alice, 'approve');
  await desk.claim(first);
  const { requestId } = (await desk.ask('pay')).state;
  expect(await banner(desk, requestId)).toMatch(`approved one like it before, in request ${first} (approval_novel)`);
  expect(await banner(desk, first)).not.toMatch('like it');
});
