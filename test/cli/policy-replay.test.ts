import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countersign, Folder } from './command-line.ts';

const data = process.env.COUNTERSIGN_SHARED_DATA ?? join(import.meta.dirname, '..', '..', '..', 'shared', 'data');
const runs = join(data, 'retail-runs.json');
const isThere = existsSync(runs);

test.runIf(isThere)(
  isThere
    ? '115 recorded runs: reads run, changes of few items run and are drawn, the rest pauses; twice the same'
    : 'NOT RUN: the 115 recorded runs, as ../shared/data/retail-runs.json is not there',
  async () => {
    const replay = () => countersign(['policy', 'replay', 'policies/retail.yaml', runs]);
    const [one, two] = await Promise.all([replay(), replay()]);
    expect(one).toEqual(two);
    expect(one.code).toBe(0);
    const { out } = await countersign(['policy', 'replay', 'policies/retail.yaml', runs, '--json']);
    const tallies: { action: string; calls: number; allow: number; drawn: number; pause: number; stop: number }[] =
      JSON.parse(out);
    const row = (action: string) => tallies.find((tally) => tally.action === action);
    expect(row('get_order_details')).toMatchObject({ calls: 171, allow: 171, drawn: 0, pause: 0 });
    expect(row('return_delivered_order_items')).toMatchObject({ calls: 42, allow: 30, pause: 12 });
    expect(row('modify_pending_order_items')).toMatchObject({ calls: 39, allow: 36, pause: 3 });
    expect(row('exchange_delivered_order_items')).toMatchObject({ calls: 36, allow: 36, pause: 0 });
    expect(row('cancel_pending_order')).toMatchObject({ calls: 25, allow: 0, pause: 25 });
    expect(tallies.reduce((sum, { calls }) => sum + calls, 0)).toBe(582);
    expect(tallies.reduce((sum, { drawn }) => sum + drawn, 0)).toBeGreaterThan(0);
    expect(one.out).toMatch(/^all +582 +506 +\d+ +76 +0$/m);
  },
);

test('a tool that the policy does not list pauses; what cannot be read pauses', async () => {
  using folder = new Folder();
  const actions = [
    { name: 'wire_money', args: {} },
    { name: 'return_delivered_order_items', args: {} },
    { name: 'return_delivered_order_items', args: { item_ids: ['1', '2'] } },
  ];
  const file = folder.file('runs.json', JSON.stringify({ runs: [{ run: 'r', actions }] }));
  const { out } = await countersign(['policy', 'replay', 'policies/retail.yaml', file]);
  expect(out).toMatch(/^wire_money +1 +0 +0 +1 +0$/m);
  expect(out).toMatch(/^return_delivered_order_items +2 +1 +\d +1 +0$/m);
  expect(await countersign(['policy', 'replay', 'policies/retail.yaml', folder.file('no.json', '{}')])).toMatchObject({
    code: 2,
  });
});
