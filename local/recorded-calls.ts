import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Call } from './permissions.ts';

/** A call that a function made: kept once, however often it is made. */
export interface RecordedCall extends Call {
  /** Logical id of the function. */
  functionId: string;
  allowed: boolean;
}

export interface Recording {
  add(call: RecordedCall): void;
  all(): RecordedCall[];
}

export function startRecording(): Recording {
  const calls = new Map<string, RecordedCall>();
  return {
    add({ functionId, action, resource, context, allowed }) {
      const call = { functionId, action, resource, context, allowed };
      calls.set(JSON.stringify(call), call);
    },
    all: () => [...calls.values()],
  };
}

const fileSchema = z.array(
  z.strictObject({
    functionId: z.string(),
    action: z.string(),
    resource: z.string(),
    context: z.record(z.string(), z.array(z.string())),
    allowed: z.boolean(),
  }),
);

/** Writes a file of its own into `folder`: several services may record side by side. */
export function writeRecording(folder: string, calls: readonly RecordedCall[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(calls, undefined, 1));
}

/** Every call in the recordings of a folder. Throws for a file that is none. */
export function readRecordings(folder: string): RecordedCall[] {
  const recording = startRecording();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    for (const call of fileSchema.parse(JSON.parse(readFileSync(join(folder, file), 'utf8')))) recording.add(call);
  }
  return recording.all();
}
