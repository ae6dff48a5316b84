import * as z from 'zod';
import type { JsonObject, JsonValue } from './json.ts';

/** Ids that stand in addresses. */
export const plainId = z
  .string()
  .regex(/^[A-Za-z0-9._:@+=~-]{1,128}$/, 'an id is 1 to 128 characters of A-Z a-z 0-9 . _ : @ + = ~ -');

/** What no id could be is no key either: whoever looks it up is told that it does not exist, and nothing is read. */
export const isPlainId = (text: string): boolean => plainId.safeParse(text).success;

/** Text of 1 to `most` characters. */
export const requiredText = (most: number) =>
  z.string().min(1, 'must not be empty').max(most, `has more than the ${most} characters that are allowed`);

/** The name of an agent or a person. */
export const name = requiredText(128);

/** Any JSON value, `null`, `false`, `0` and `""` among them: present is present. The strict parser has checked it already. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, 'is needed (any JSON value)');

export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be a JSON object',
);

export const digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'a digest is "sha256:" and 64 lower-case hexadecimal digits');
