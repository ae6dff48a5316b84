import { CorruptRecordError } from '../corrupt-record.ts';
import { isPlainId } from '../fields.ts';
import type { AuditStore, RequestLists, RequestStore, StoredRequest } from '../ports.ts';
import type { RequestState } from '../request.ts';
import { type ChainReading, compareWithChain, emptyReading, type Fault, readOn } from '../verification.ts';
import { runNotFound } from './read-audit.ts';

export interface Verification {
  intact: boolean;
  /** How many entries were read. */
  entries: number;
  /** The last entry that holds. */
  head?: { sequence: number; hash: string };
  brokenAt?: number;
  reason?: string;
  /** What this check cannot see. */
  limits: string;
}

const limits =
  'Without signed checkpoints this cannot see a run that was removed together with its requests, nor a chain that was rewritten together with them.';

type Ports = { store: RequestStore & RequestLists & AuditStore };

/**
 * Reads the requests of the run first and its entries after, so that a write in between cannot look like a cut; then hashes
 * every entry and every content again and holds each request against what its entries say. Throws `NOT_FOUND` for a run of
 * which nothing is stored.
 */
export async function verifyRun({ store }: Ports, { runId }: { runId: string }): Promise<Verification> {
  if (!isPlainId(runId)) throw runNotFound(runId);
  const requests = await requestsOf(store, runId);
  const { reading, count } = await readChain(store, runId);
  if (count === 0 && requests.size === 0) throw runNotFound(runId);
  const fault = reading.fault ?? (await firstRequestFault(store, reading, runId, requests));
  return {
    intact: fault === undefined,
    entries: count,
    ...(reading.sequence > 0 && { head: { sequence: reading.sequence, hash: reading.hash } }),
    ...fault,
    limits,
  };
}

type Read = StoredRequest | CorruptRecordError | undefined;

/** A request that was tampered with until it cannot be read is a finding of the verification, not its failure. */
const read = (store: RequestStore, requestId: string): Promise<Read> =>
  store.readRequest(requestId).catch((error: unknown) => {
    if (error instanceof CorruptRecordError) return error;
    throw error;
  });

async function requestsOf(store: RequestStore & RequestLists, runId: string): Promise<Map<string, Read>> {
  const requests = new Map<string, Read>();
  let cursor: string | undefined;
  do {
    const page = await store.ofRun(runId, 100, cursor);
    await Promise.all(page.items.map(async ({ requestId }) => requests.set(requestId, await read(store, requestId))));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return requests;
}

async function readChain(store: AuditStore, runId: string): Promise<{ reading: ChainReading; count: number }> {
  let reading = emptyReading();
  let count = 0;
  let after: number | undefined;
  for (;;) {
    const page = await store.entries(runId, after, 500);
    for (const entry of page) reading = readOn(reading, runId, entry);
    count += page.length;
    const last = page.at(-1);
    if (!last || page.length < 500) return { reading, count };
    after = last.sequence;
  }
}

/** The earliest fault among the requests that were read, and those that only the chain knows. */
async function firstRequestFault(
  store: RequestStore & AuditStore,
  reading: ChainReading,
  runId: string,
  known: Map<string, Read>,
): Promise<Fault | undefined> {
  const faults: Fault[] = [];
  for (const requestId of new Set([...known.keys(), ...reading.requests.keys()])) {
    const fault = await faultOf(store, reading, runId, requestId, known.get(requestId));
    if (fault) faults.push(fault);
  }
  return faults.sort((a, b) => a.brokenAt - b.brokenAt)[0];
}

async function faultOf(
  store: RequestStore & AuditStore,
  reading: ChainReading,
  runId: string,
  requestId: string,
  before: Read,
): Promise<Fault | undefined> {
  const lastTold = reading.requests.get(requestId)?.last.sequence ?? reading.sequence + 1;
  if (before instanceof CorruptRecordError) return { brokenAt: lastTold, reason: before.message };
  const first = before && compareWithChain(reading, before);
  if (before && first !== 'stale') return first;
  const now = await read(store, requestId);
  if (now instanceof CorruptRecordError) return { brokenAt: lastTold, reason: now.message };
  if (!now) return { brokenAt: lastTold, reason: `entries are about request ${requestId}, which does not exist` };
  if (now.state.lastEntry.sequence > reading.sequence) return goneOnFault(store, reading, runId, now.state);
  const again = compareWithChain(reading, now);
  return again === 'stale'
    ? { brokenAt: lastTold, reason: `the request ${requestId} does not know of this entry: it was added` }
    : again;
}

/** A request that has gone on since the entries were read names an entry that must be there by now. */
async function goneOnFault(
  store: AuditStore,
  reading: ChainReading,
  runId: string,
  { requestId, lastEntry: { sequence, hash } }: RequestState,
): Promise<Fault | undefined> {
  const [entry] = await store.entries(runId, sequence - 1, 1);
  if (entry?.sequence === sequence && entry.hash === hash) return undefined;
  return {
    brokenAt: reading.sequence + 1,
    reason: `request ${requestId} says that entry ${sequence} exists in this run; the chain ends at ${reading.sequence}`,
  };
}
