import * as z from 'zod';
import { codePoint, invisible, isBlank } from './invisible.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** Ids that stand in addresses; one of dots alone would be a step in a path there. */
export const plainId = z
  .string()
  .regex(
    /^(?!\.+$)[A-Za-z0-9._:@+=~-]{1,128}$/,
    'an id is 1 to 128 characters of A-Z a-z 0-9 . _ : @ + = ~ -, not only dots',
  );

/** What no id could be is no key either: whoever looks it up is told that it does not exist, and nothing is read. */
export const isPlainId = (text: string): boolean => plainId.safeParse(text).success;

/** Text of 1 to `most` characters. */
export const requiredText = (most: number) =>
  z.string().min(1, 'must not be empty').max(most, `has more than the ${most} characters that are allowed`);

/**
 * The name of an agent or a person: what cannot be seen has no place in it, since it would make one name out of two that look
 * the same.
 */
export const name = requiredText(128).superRefine((text, context) => {
  const [unseen] = text.match(invisible) ?? [];
  if (unseen !== undefined)
    context.addIssue({
      code: 'custom',
      message: `holds ${codePoint(unseen)}, which cannot be seen; a name is visible`,
    });
  else if (isBlank(text)) context.addIssue({ code: 'custom', message: 'holds nothing but blanks; a name is visible' });
});

/** How many a page of a list holds, as a query says it: plain digits. */
export const pageLimit = (usual: number) =>
  z
    .string()
    .regex(/^([1-9][0-9]?|100)$/, 'it is a whole number from 1 to 100')
    .transform(Number)
    .default(usual);

/** Any JSON value, `null`, `false`, `0` and `""` among them: present is present. The strict parser has checked it already. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, 'is needed (any JSON value)');

export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be a JSON object',
);

export const digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'a digest is "sha256:" and 64 lower-case hexadecimal digits');
