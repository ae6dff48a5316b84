import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyCheckpoint } from '@langchain/langgraph';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SqliteSaver } from '../../examples/support-agent/sqlite-saver.ts';

type Config = Awaited<ReturnType<SqliteSaver['put']>>;

let folder: string;
let saver: SqliteSaver;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'saver-'));
  saver = new SqliteSaver(join(folder, 'checkpoints.sqlite'));
});
afterEach(() => {
  saver.close();
  rmSync(folder, { recursive: true });
});

const begin = (thread: string): Config => ({ configurable: { thread_id: thread, checkpoint_ns: '' } });
const put = (config: Config, id: string, step: number) =>
  saver.put(config, { ...emptyCheckpoint(), id, channel_values: { step } }, { source: 'loop', step, parents: {} });
async function listed(config: Config, options?: Parameters<SqliteSaver['list']>[1]): Promise<string[]> {
  const ids: string[] = [];
  for await (const { checkpoint } of saver.list(config, options)) ids.push(checkpoint.id);
  return ids;
}

describe('the checkpoints of the support agent', () => {
  it('are there for the process after this one, the newest first, each with its parent', async () => {
    const first = await put(begin('run'), 'a', 0);
    await put(first, 'b', 1);
    saver.close();
    saver = new SqliteSaver(join(folder, 'checkpoints.sqlite'));

    expect(await saver.getTuple(begin('run'))).toMatchObject({
      checkpoint: { id: 'b', channel_values: { step: 1 } },
      metadata: { step: 1 },
      parentConfig: { configurable: { checkpoint_id: 'a' } },
    });
    expect(await saver.getTuple(first)).toMatchObject({ checkpoint: { id: 'a' } });
    expect(await saver.getTuple(begin('another'))).toBeUndefined();
  });

  it('keep the first of what a task wrote, the last of its interrupts, in the order of the tasks', async () => {
    const config = await put(begin('run'), 'a', 0);
    await saver.putWrites(config, [['channel', 'late task']], 'task-2', 'b');
    await saver.putWrites(config, [['channel', 'first']], 'task-3', 'a');
    await saver.putWrites(config, [['channel', 'again']], 'task-3', 'a');
    await saver.putWrites(config, [['__interrupt__', 'old']], 'task-3', 'a');
    await saver.putWrites(config, [['__interrupt__', 'new']], 'task-3', 'a');

    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ['task-3', '__interrupt__', 'new'],
      ['task-3', 'channel', 'first'],
      ['task-2', 'channel', 'late task'],
    ]);
  });

  it('are listed by thread, before one, by metadata, and no more than asked for', async () => {
    const first = await put(begin('run'), 'a', 0);
    const second = await put(first, 'b', 1);
    await put(second, 'c', 2);
    await put(begin('other'), 'd', 0);

    expect(await listed(begin('run'))).toEqual(['c', 'b', 'a']);
    expect(await listed(begin('run'), { before: second })).toEqual(['a']);
    expect(await listed(begin('run'), { filter: { step: 1 } })).toEqual(['b']);
    expect(await listed(begin('run'), { limit: 1 })).toEqual(['c']);
    expect(await listed({ configurable: {} })).toEqual(['d', 'c', 'b', 'a']);
  });

  it('go with their thread and leave the others', async () => {
    await saver.putWrites(await put(begin('run'), 'a', 0), [['channel', 1]], 'task');
    await put(begin('other'), 'b', 0);

    await saver.deleteThread('run');

    expect(await saver.getTuple(begin('run'))).toBeUndefined();
    expect(await listed(begin('other'))).toEqual(['b']);
  });

  it('refuse to be put without a thread', async () => {
    await expect(put({ configurable: {} }, 'a', 0)).rejects.toThrow('thread_id');
  });
});
