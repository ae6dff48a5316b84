import { expect } from 'vitest';
import type { EntryType } from '../../core/audit-entry.ts';
import type { Front } from './harness.ts';

/** Entries that end a question; of one request there is never more than one. */
const ending: readonly EntryType[] = [
  'request_approved',
  'request_rejected',
  'request_responded',
  'request_timed_out',
  'request_proceeded',
  'request_cancelled',
];

export interface Entry {
  sequence: number;
  type: EntryType;
  requestId: string;
  actor: { kind: string; id: string };
  details: Record<string, unknown>;
}

function decisionsIn(entries: readonly Entry[], requestId: string): Entry[] {
  return entries.filter((entry) => entry.requestId === requestId && ending.includes(entry.type));
}

/** Fails unless the question was ended exactly once. */
export function exactlyOneDecision(entries: readonly Entry[], requestId: string): Entry {
  const [decision, ...others] = decisionsIn(entries, requestId);
  if (!decision || others.length > 0)
    throw new Error(
      `${requestId} has ${others.length + (decision ? 1 : 0)} decisions in the audit; exactly one is allowed`,
    );
  return decision;
}

/** What the run proves: its whole audit, verified, in sequence, with one decision for each of these requests. */
export async function proven(front: Front, runId: string, ...requestIds: string[]): Promise<Entry[]> {
  const verification = await front.verify(runId);
  expect(verification.body).toMatchObject({ intact: true });
  const entries: Entry[] = (await front.audit(runId)).body.items;
  expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
  expect(verification.body.entries).toBe(entries.length);
  for (const requestId of requestIds) exactlyOneDecision(entries, requestId);
  return entries;
}
