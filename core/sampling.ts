import type { EntryEvent, UnsealedEntry } from './audit-entry.ts';
import { canonicalJson, sha256Hex } from './canonical-json.ts';
import type { ActionPolicy } from './policy.ts';

/** Whether an action that ran by itself is reviewed afterwards. It is on the request and in the entry that made it. */
export interface Draw {
  /** 0…1: how likely it was. */
  rate: number;
  /** Uniform in [0, 1). */
  draw: number;
  /** `draw < rate`. */
  sampled: boolean;
}

/** What a draw is made of, all of it in the entry: the agent chooses some of it, but not the salt in the texts nor the chain. */
export interface DrawSource {
  runId: string;
  requestId: string;
  previousHash: string;
  textsDigest: string;
}

/**
 * The first 52 bits of `SHA-256("countersign/sample-draw/v1\n" + JCS([runId, requestId, previousHash, textsDigest]))`, as a
 * fraction of 2^52. Recomputable by anybody who holds the entry, and by nobody before it is written.
 */
export function drawOf({ runId, requestId, previousHash, textsDigest }: DrawSource): number {
  const hash = sha256Hex(`countersign/sample-draw/v1\n${canonicalJson([runId, requestId, previousHash, textsDigest])}`);
  return Number.parseInt(hash.slice(0, 13), 16) / 2 ** 52;
}

const unsure = 0.7;

/**
 * How likely an action that is allowed is drawn: the policy's rate, three times it (at most 1) where the agent's confidence is
 * below 0.7, always where it is novel. `undefined`: it is not of a kind that is reviewed.
 */
export function sampleRateOf(
  { policy, sampleRate }: Pick<ActionPolicy, 'policy' | 'sampleRate'>,
  { confidence, novel }: { confidence?: number | undefined; novel: boolean },
): number | undefined {
  if (novel) return 1;
  if (policy !== 'sampling' || sampleRate === undefined) return undefined;
  return confidence !== undefined && confidence < unsure ? Math.min(1, 3 * sampleRate) : sampleRate;
}

export function drawAt(rate: number, source: DrawSource): Draw {
  const draw = drawOf(source);
  return { rate, draw, sampled: draw < rate };
}

type Created = Omit<UnsealedEntry, 'type' | 'details'> & Extract<EntryEvent, { type: 'request_created' }>;

/** What is wrong with the draw that an entry records; `undefined`: nothing, or it records none. */
export function drawFault({ runId, requestId = '', previousHash, details }: Created): string | undefined {
  const { sample, textsDigest } = details;
  if (!sample) return undefined;
  const draw = drawOf({ runId, requestId, previousHash, textsDigest });
  if (sample.draw !== draw) return `it records the draw ${sample.draw}, which is ${draw}`;
  if (sample.sampled === draw < sample.rate) return undefined;
  return `the draw ${draw} at the rate ${sample.rate} was taken for ${sample.sampled ? 'drawn' : 'not drawn'}`;
}
