import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openFunctionLog } from '../../local/function-log.ts';
import { type FunctionDefinition, type PlayedFunction, playFunction } from '../../local/functions.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder with a bundle of these lines. */
function writeBundle(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  folders.push(folder);
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
  writeFileSync(join(folder, 'index.js'), source);
  return folder;
}

/** A function made of these lines, with a clock of its own unless one is given. */
export function smallFunction(
  source: string,
  changes: Partial<FunctionDefinition> = {},
  clock = new SharedArrayBuffer(8),
): PlayedFunction {
  const folder = writeBundle(source);
  const definition = {
    logicalId: 'Small',
    name: 'small',
    arn: 'arn:aws:lambda:eu-central-1:000000000000:function:Small',
    folder,
    handler: 'index.handler',
    timeoutSeconds: 5,
    memoryMegabytes: 128,
    environment: { COLOUR: 'green' },
    ...changes,
  };
  return playFunction(definition, clock, openFunctionLog(join(folder, 'log'), false));
}

/** The result of a function that returned. */
export async function resultOf(played: PlayedFunction, event: unknown = {}): Promise<unknown> {
  const invocation = await played.invoke(event);
  if (invocation.status !== 'returned') throw new Error(`the function did not return: ${JSON.stringify(invocation)}`);
  return JSON.parse(invocation.payload);
}
