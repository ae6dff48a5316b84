import type { Content } from './action.ts';
import { canonicalJson, type Digest, digestOf } from './canonical-json.ts';
import { CountersignError } from './errors.ts';
import type { JsonValue } from './json.ts';

export type TextKind = 'request-texts' | 'vote-text' | 'outcome-result';

/**
 * Free text (and what is not part of the action) as content. The salt makes its digest a commitment: it stands in the audit
 * and nobody can guess a short text from it.
 */
export function textContent(kind: TextKind, salt: string, texts: Record<string, JsonValue | undefined>): Content {
  const canonical = canonicalJson({ ...texts, kind, salt });
  return { digest: digestOf(canonical), canonical };
}

/** Reads a text content; `undefined` where the request names none. */
export function readTexts(
  contents: ReadonlyMap<string, string>,
  digest: Digest | undefined,
): Record<string, JsonValue> | undefined {
  const canonical = digest === undefined ? undefined : contents.get(digest);
  return canonical === undefined ? undefined : (JSON.parse(canonical) as Record<string, JsonValue>);
}

/** Limits in bytes of UTF-8 (of the canonical form, where it is JSON). */
export const limits = {
  actionArgs: 256 * 1024,
  contextSummary: 8 * 1024,
  actionResult: 64 * 1024,
  metadata: 16 * 1024,
  note: 16 * 1024,
  response: 16 * 1024,
  result: 64 * 1024,
} as const;

/** Refuses with `PAYLOAD_TOO_LARGE`, naming the limit. Nothing is ever cut to fit. */
export function checkSize(field: keyof typeof limits, value: JsonValue | undefined): void {
  if (value === undefined) return;
  const bytes = Buffer.byteLength(typeof value === 'string' ? value : canonicalJson(value), 'utf8');
  if (bytes > limits[field])
    throw new CountersignError(
      'PAYLOAD_TOO_LARGE',
      `${field} has ${bytes} bytes; at most ${limits[field]} are allowed.`,
      {
        field,
        bytes,
        limit: limits[field],
      },
    );
}
