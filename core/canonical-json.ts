import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonValue } from './json.ts';

/** `sha256:` and 64 hex digits. */
export type Digest = string;

/** RFC 8785 (JCS). The one form in which anything is stored, shown, hashed or signed. Members that are `undefined` are left out. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('only a JSON value has a canonical form');
  return text;
}

/** SHA-256 over the UTF-8 bytes of `text`, as lower-case hex. */
export const sha256Hex = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** The name of a content item: the digest of the very string that is stored. */
export const digestOf = (canonical: string): Digest => `sha256:${sha256Hex(canonical)}`;

/** Reads back what {@link canonicalJson} wrote. Never for text that came from outside: that is `strict-json.ts`. */
export const fromCanonical = <Value = JsonValue>(canonical: string): Value => JSON.parse(canonical) as Value;
