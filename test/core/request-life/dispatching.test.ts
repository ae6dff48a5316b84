import { describe, expect, test } from 'vitest';
import { dispatchOwed } from '../../../core/use-cases/dispatch-owed.ts';
import { delegating } from './altered-store.ts';
import { Desk, people, webUrl } from './desk.ts';

const { alice } = people;
const asked = 'asked-0-support_manager';

async function refund() {
  const desk = new Desk();
  return { desk, requestId: (await desk.ask('refund')).state.requestId };
}

describe('what is owed', () => {
  test('given a new request, then it owes an alert to each role that is asked, and is due at once', async () => {
    const desk = new Desk();
    const { owed, wakeAt } = (await desk.ask('pay')).state;
    expect(Object.keys(owed)).toEqual(['asked-0-finance', 'asked-0-security']);
    expect(wakeAt).toBe(desk.world.now());
    expect((await desk.ask('look')).state.owed).toEqual({});
  });

  test('given the topic takes it, then it is struck off, once, and the request rests until its deadline', async () => {
    const { desk, requestId } = await refund();
    const { version, deadline } = await desk.state(requestId);
    expect(await desk.dispatch(requestId)).toEqual({ delivered: [asked], postponed: [] });
    expect(await desk.dispatch(requestId)).toEqual({ delivered: [], postponed: [] });
    expect(desk.published).toMatchObject([
      { id: `${requestId}/${asked}`, role: 'support_manager', kind: 'asked', level: 0 },
    ]);
    expect(await desk.state(requestId)).toMatchObject({
      owed: {},
      delivered: { [asked]: desk.world.now() },
      wakeAt: deadline,
      version,
    });
  });

  test('CASE 26 (logic): given a topic that fails for an hour, then it stays owed, with back-off, and leaves under the same id', async () => {
    const { desk, requestId } = await refund();
    desk.topicFails = true;
    const pauses = [];
    for (let tries = 1; tries <= 7; tries++) {
      const { attempts, nextAt } = (await desk.state(requestId)).owed[asked] ?? {};
      expect(attempts).toBe(tries - 1);
      const pause = (Date.parse(nextAt ?? '') - Date.parse(desk.world.now())) / 1000;
      pauses.push(pause);
      desk.world.pass(pause - 1);
      if (pause > 0) expect(await desk.dispatch(requestId)).toEqual({ delivered: [], postponed: [] });
      desk.world.pass(1);
      expect(await desk.dispatch(requestId)).toEqual({ delivered: [], postponed: [asked] });
    }
    expect(pauses).toEqual([0, 30, 60, 120, 240, 480, 960]);
    const { status, owed, wakeAt } = await desk.state(requestId);
    expect(status).toBe('PENDING');
    expect(wakeAt).toBe(owed[asked]?.nextAt);
    desk.topicFails = false;
    desk.world.pass(3600);
    await desk.dispatch(requestId);
    expect(desk.published.map(({ id }) => id)).toEqual([`${requestId}/${asked}`]);
  });

  test('given many dispatchers at once, then one message leaves', async () => {
    const { desk, requestId } = await refund();
    const results = await Promise.all(Array.from({ length: 8 }, () => desk.dispatch(requestId)));
    expect(results.flatMap(({ delivered }) => delivered)).toEqual([asked]);
    expect(desk.published).toHaveLength(1);
  });

  test('planted fault: given a lease that never refuses, then the case above sees doubles', async () => {
    const { desk, requestId } = await refund();
    const store = { ...delegating(desk.store), lease: async () => true };
    const { alerts, world } = desk;
    await Promise.all([1, 2].map(() => dispatchOwed({ store, alerts, world }, { requestId, webUrl })));
    expect(desk.published).toHaveLength(2);
  });

  test('given a crash between sending and striking off, then it is sent again under the same id when the lease ends', async () => {
    const { desk, requestId } = await refund();
    const store = {
      ...delegating(desk.store),
      strike: async () => {
        throw new Error('crashed');
      },
    };
    const { alerts, world } = desk;
    await expect(dispatchOwed({ store, alerts, world }, { requestId, webUrl })).rejects.toThrow('crashed');
    expect(await desk.dispatch(requestId)).toEqual({ delivered: [], postponed: [] });
    world.pass(60);
    expect(await desk.dispatch(requestId)).toEqual({ delivered: [asked], postponed: [] });
    expect(desk.published.map(({ id }) => id)).toEqual([`${requestId}/${asked}`, `${requestId}/${asked}`]);
  });

  test('given a decision, then nothing is owed any more and a dispatcher on its way changes nothing', async () => {
    const { desk, requestId } = await refund();
    const decided = await desk.vote(requestId, alice, 'reject');
    expect(decided).toMatchObject({ owed: {} });
    expect(decided).not.toHaveProperty('wakeAt');
    await desk.store.strike(requestId, asked, desk.world.now());
    expect(await desk.dispatch(requestId)).toEqual({ delivered: [], postponed: [] });
    expect(await desk.state(requestId)).toEqual(decided);
  });

  test('given one role whose message fails, then the other leaves', async () => {
    const desk = new Desk();
    const { requestId } = (await desk.ask('pay')).state;
    const alerts = {
      publish: async (message: Parameters<typeof desk.alerts.publish>[0]) => {
        if (message.role === 'finance') throw new Error('refused');
        await desk.alerts.publish(message);
      },
    };
    const { store, world } = desk;
    expect(await dispatchOwed({ store, alerts, world }, { requestId, webUrl })).toEqual({
      delivered: ['asked-0-security'],
      postponed: ['asked-0-finance'],
    });
    expect(Object.keys((await desk.state(requestId)).owed)).toEqual(['asked-0-finance']);
  });

  test('given an id that does not exist, then nothing happens', async () => {
    expect(await new Desk().dispatch('none')).toEqual({ delivered: [], postponed: [] });
  });
});
