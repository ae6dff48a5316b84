import type * as z from 'zod';
import { CountersignError } from './errors.ts';
import { pointerTo } from './json-pointer.ts';
import { givenAndAllowed, ownMember } from './policy-problems.ts';

/** So many faults, and so many unknown fields, are named; the rest is counted. */
const mostNamed = 10;

/**
 * Checks a parsed body (or `whole`: a query, a header) against its schema. The problems are named in one `VALIDATION_FAILED`:
 * where, what was given and what is allowed, and for a field that does not exist which fields do.
 */
export function checkBody<Body>(
  schema: z.ZodType<Body>,
  body: unknown,
  allowed: readonly string[],
  whole = 'the body',
): Body {
  const result = schema.safeParse(body, { reportInput: true });
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    (issue) => `${issue.path.length === 0 ? whole : pointerTo(issue.path.map(String))}: ${problemOf(issue, allowed)}`,
  );
  throw new CountersignError('VALIDATION_FAILED', `${firstOf(problems, '; ')}.`);
}

/** What stands in a field that takes anything is never shown: those are checked by `custom` alone. */
function problemOf(issue: z.core.$ZodIssue, allowed: readonly string[]): string {
  if (issue.code === 'unrecognized_keys') {
    const unknown = firstOf(
      issue.keys.map((key) => JSON.stringify(key.slice(0, 60))),
      ', ',
    );
    return `unknown field ${unknown}; ${allowed.length === 0 ? 'no field is allowed' : `allowed are ${allowed.join(', ')}`}`;
  }
  if (issue.code === 'custom') return issue.message;
  if (issue.code === 'invalid_union' && 'options' in issue)
    return givenAndAllowed({
      code: 'invalid_value',
      values: [...(issue.options ?? [])] as string[],
      input: ownMember(issue.input, String(issue.discriminator)),
      path: issue.path,
      message: issue.message,
    });
  return givenAndAllowed(issue);
}

const firstOf = (all: readonly string[], separator: string): string =>
  [...all.slice(0, mostNamed), ...(all.length > mostNamed ? [`and ${all.length - mostNamed} more`] : [])].join(
    separator,
  );
