import { describe, expect, test } from 'vitest';
import { delegating } from './altered-store.ts';
import { Desk, people } from './desk.ts';

const { alice } = people;

describe('sweep', () => {
  test('CASE 34 (logic): given one corrupt record, then the others are handled and it is named', async () => {
    const desk = new Desk();
    const ids = [];
    for (let n = 0; n < 40; n++) ids.push((await desk.ask('send', { actionArgs: { n } })).state.requestId);
    const corrupt = ids[7];
    desk.world.pass(600);
    const store = {
      ...delegating(desk.store),
      readRequest: async (requestId: string) => {
        if (requestId === corrupt) throw new Error('cannot be read');
        return desk.store.readRequest(requestId);
      },
    };
    expect(await desk.sweep({ store })).toEqual({
      handled: 39,
      failed: [{ requestId: corrupt, reason: 'cannot be read' }],
      unfinished: false,
    });
    const statuses = await Promise.all(ids.map(async (id) => (await desk.state(id)).status));
    expect(statuses.filter((status) => status === 'TIMED_OUT')).toHaveLength(39);
  });

  test('CASE 33 (logic): given eight sweeps at once, then each request changes once', async () => {
    const desk = new Desk();
    for (let n = 0; n < 20; n++) await desk.ask('refund', { runId: `run-${n}` });
    desk.world.pass(7200);
    await Promise.all(Array.from({ length: 8 }, () => desk.sweep()));
    for (let n = 0; n < 20; n++)
      expect(await desk.audit(undefined, `run-${n}`)).toEqual(['request_created', 'request_escalated']);
  });

  test('CASE 4 (logic): given a rejection between the read of the sweep and its write, then the rejection stands', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('send')).state;
    const inTime = new Desk({ store: desk.store });
    desk.world.pass(600);
    let once = true;
    const store = {
      ...delegating(desk.store),
      readTail: async (runId: string) => {
        if (once) await inTime.vote(requestId, alice, 'reject');
        once = false;
        return desk.store.readTail(runId);
      },
    };
    expect(await desk.sweep({ store })).toMatchObject({ handled: 1, failed: [] });
    expect(await desk.audit()).toEqual(['request_created', 'request_rejected']);
  });

  test('given the stream is off, then everything owed leaves within two sweeps, once', async () => {
    const desk = new Desk();
    for (let n = 0; n < 30; n++) await desk.ask(n % 2 ? 'pay' : 'refund', { actionArgs: { n } });
    await desk.sweep();
    desk.world.pass(60);
    await desk.sweep();
    expect(desk.published).toHaveLength(45);
    expect(new Set(desk.published.map(({ id }) => id)).size).toBe(45);
  });

  test('given the stream is off, then an escalation is alerted within two sweeps', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('refund')).state;
    desk.world.pass(7200);
    await desk.sweep();
    desk.world.pass(60);
    await desk.sweep();
    expect(desk.published.map(({ role }) => role)).toContain('senior_manager');
    expect((await desk.state(requestId)).owed).toEqual({});
  });

  test('given a dispatcher that died holding its lease, then the sweep sends when the lease has ended', async () => {
    const desk = new Desk();
    const { requestId, owed } = (await desk.ask('refund')).state;
    const [[id, { nextAt }] = ['', { nextAt: '' }]] = Object.entries(owed);
    await desk.store.lease(requestId, id, nextAt, '2026-11-30T14:01:00.000Z');
    await desk.sweep();
    expect(desk.published).toHaveLength(0);
    expect((await desk.state(requestId)).wakeAt).toBe('2026-11-30T14:01:00.000Z');
    desk.world.pass(60);
    await desk.sweep();
    expect(desk.published).toHaveLength(1);
  });

  test('given nothing is due, then nothing is read and nothing is written', async () => {
    const desk = new Desk();
    await desk.dispatch((await desk.ask('refund')).state.requestId);
    const store = {
      ...delegating(desk.store),
      readRequest: async () => expect.fail('read a request that is not due'),
    };
    expect(await desk.sweep({ store })).toEqual({ handled: 0, failed: [], unfinished: false });
  });

  test('given its time is over, then it says so and what is left is still due', async () => {
    const desk = new Desk();
    for (let n = 0; n < 20; n++) await desk.ask('send', { runId: `run-${n}` });
    desk.world.pass(600);
    const store = {
      ...delegating(desk.store),
      readTail: async (runId: string) => {
        await desk.world.pause(10_000);
        return desk.store.readTail(runId);
      },
    };
    const first = await desk.sweep({ store });
    expect(first.unfinished).toBe(true);
    expect(first.handled).toBeLessThan(20);
    await desk.sweep();
    for (let n = 0; n < 20; n++) expect(await desk.audit(undefined, `run-${n}`)).toContain('request_timed_out');
  });
});
