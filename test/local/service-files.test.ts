import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockData } from '../../local/data-lock.ts';
import { openFunctionLog } from '../../local/function-log.ts';
import { writeServiceFile } from '../../local/service-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const describedAt = (apiUrl: string) => ({
  apiUrl,
  webUrl: apiUrl,
  mailboxUrl: apiUrl,
  controlUrl: apiUrl,
  issuer: apiUrl,
  tokens: {},
});

describe('the file that says where the service is', () => {
  const usual = join(folder, 'service.json');
  let running: Server;
  let first: string;
  beforeAll(async () => {
    running = createServer((_request, response) => void response.end('{}'));
    await new Promise<void>((resolve) => running.listen(0, '127.0.0.1', resolve));
    first = `http://localhost:${(running.address() as AddressInfo).port}`;
  });
  afterAll(() => running.close());

  test('a second service leaves the first one’s alone, and takes only its own away', async () => {
    const firstFile = await writeServiceFile(describedAt(first), folder);
    const kept = readFileSync(usual, 'utf8');
    const second = await writeServiceFile(describedAt('http://localhost:9'), folder);
    expect([firstFile.path, second.path]).toEqual([usual, join(folder, 'service-9.json')]);
    expect(second.shown).toBe('.local/service-9.json');
    expect(JSON.parse(readFileSync(second.path, 'utf8')).apiUrl).toBe('http://localhost:9');
    second.remove();
    expect(existsSync(second.path)).toBe(false);
    expect(readFileSync(usual, 'utf8')).toBe(kept);
    firstFile.remove();
    expect(existsSync(usual)).toBe(false);
  });

  test.each([
    ['of a service that is gone', JSON.stringify(describedAt('http://localhost:9'))],
    ['that is broken', '{'],
  ])('one %s is written over', async (_which, left) => {
    writeFileSync(usual, left);
    expect((await writeServiceFile(describedAt(first), folder)).path).toBe(usual);
    expect(JSON.parse(readFileSync(usual, 'utf8')).apiUrl).toBe(first);
  });
});

describe('a folder of data', () => {
  const data = join(folder, 'data');
  const refusal = `the data in ${data} is in use by another service`;

  test('is one service’s at a time', () => {
    const unlock = lockData(data);
    expect(() => lockData(data)).toThrow(refusal);
    unlock();
    lockData(data)();
  });

  test('is refused to another process, and free again after one that was killed', () => {
    const lock = `const { lockData } = await import('./local/data-lock.ts'); lockData(process.argv[1])`;
    const locking = (then: string) =>
      spawnSync(process.execPath, ['--input-type=module', '-e', `${lock}; ${then}`, data], { encoding: 'utf8' });
    const unlock = lockData(data);
    expect(locking('').stderr).toContain(refusal);
    unlock();
    expect(locking(`process.kill(process.pid, 'SIGKILL')`).signal).toBe('SIGKILL');
    lockData(data)();
  });
});

test('a log in which nothing was written is not left behind', async () => {
  const file = join(folder, 'functions.log');
  await openFunctionLog(file, false).close();
  expect(existsSync(file)).toBe(false);
  const log = openFunctionLog(file, false);
  log.write('sweep', 'something');
  await log.close();
  expect(readFileSync(file, 'utf8')).toMatch(/ sweep something\n$/);
});
