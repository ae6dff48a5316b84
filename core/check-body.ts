import type * as z from 'zod';
import { CountersignError } from './errors.ts';

/**
 * Checks a parsed body against its schema. Every problem is named in one `VALIDATION_FAILED`: where, what is wrong, and for a
 * field that does not exist which fields do.
 */
export function checkBody<Body>(schema: z.ZodType<Body>, body: unknown, allowed: readonly string[]): Body {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const place = issue.path.length === 0 ? 'the body' : `/${issue.path.map(String).join('/')}`;
    return issue.code === 'unrecognized_keys'
      ? `${place}: unknown field ${issue.keys.map((key) => JSON.stringify(key.slice(0, 60))).join(', ')}; allowed are ${allowed.join(', ')}`
      : `${place}: ${issue.message}`;
  });
  throw new CountersignError('VALIDATION_FAILED', `${problems.join('; ')}.`);
}
