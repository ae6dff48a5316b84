import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createStore } from '../../adapters/dynamodb/store.ts';
import { startEngine } from '../../local/dynamodb-engine.ts';
import { given, pendingState } from './requests.ts';
import { emptyTables, sameTables } from './tables-on-engine.ts';

afterEach(() => vi.unstubAllEnvs());

test('an engine of our own keeps its data in a folder, and ends when it is told to', async () => {
  vi.stubEnv('DYNAMODB_ENDPOINT', undefined);
  const dataDir = mkdtempSync(join(tmpdir(), 'countersign-engine-'));
  try {
    const first = await startEngine({ dataDir });
    const connection = await emptyTables(first.endpoint);
    const { state } = await given(createStore(connection), pendingState());
    await first.stop();
    await expect(fetch(first.endpoint)).rejects.toThrow('fetch failed');

    const second = await startEngine({ dataDir });
    const store = createStore(sameTables(second.endpoint, connection));
    expect(await store.readState(state.requestId)).toEqual(state);
    await second.stop();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test('DYNAMODB_ENDPOINT is used where it is set, and left running', async () => {
  vi.stubEnv('DYNAMODB_ENDPOINT', undefined);
  const running = await startEngine();
  vi.stubEnv('DYNAMODB_ENDPOINT', `${running.endpoint}/`);
  const joined = await startEngine();
  expect(joined).toMatchObject({ endpoint: running.endpoint, pid: undefined });
  await joined.stop();
  expect((await fetch(running.endpoint)).status).toBeLessThan(500);
  await running.stop();
  await expect(startEngine()).rejects.toThrow(/^DYNAMODB_ENDPOINT is http:.*, where nothing answers: start it/);
});
