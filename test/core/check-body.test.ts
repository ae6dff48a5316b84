import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { checkBody } from '../../core/check-body.ts';
import { isPlainId, jsonObject, pageLimit, plainId } from '../../core/fields.ts';

const schema = z.strictObject({
  id: plainId,
  phase: z.enum(['before', 'after']).default('before'),
  seconds: z.int().min(1).max(9).optional(),
  args: jsonObject.optional(),
});
const fields = Object.keys(schema.shape);

function problemOf(body: unknown, given: z.ZodType = schema, whole?: string, allowed = fields): string {
  try {
    checkBody(given, body, allowed, whole);
  } catch (error) {
    return (error as Error).message;
  }
  return expect.fail('was not refused');
}

describe('what a refusal of a body says', () => {
  test.each<[unknown, string]>([
    [{}, '/id: is missing; a string is needed.'],
    [{ id: 'a b' }, '/id: is "a b"; an id is 1 to 128 characters of A-Z a-z 0-9 . _ : @ + = ~ -, not only dots.'],
    [{ id: 'a', seconds: 0 }, '/seconds: is 0; at least 1 is allowed.'],
    [{ id: 'a', seconds: 10 }, '/seconds: is 10; at most 9 is allowed.'],
    [{ id: 'a', seconds: '5' }, '/seconds: is "5"; a number is needed.'],
    [{ id: 'a', phase: 'between' }, '/phase: is "between"; allowed are before, after.'],
    [['x'], 'the body: is a list of 1; an object is needed.'],
  ])('given %j, then what was given and what is allowed', (body, said) => {
    expect(problemOf(body)).toBe(said);
  });

  test('given arguments of the wrong kind, then their value is not shown', () => {
    expect(problemOf({ id: 'a', args: '4111111111111111' })).toBe('/args: must be a JSON object.');
  });

  test('given another word than a decision has, then which there are', () => {
    const union = z.discriminatedUnion('decision', [
      z.strictObject({ decision: z.literal('approve') }),
      z.strictObject({ decision: z.literal('reject') }),
    ]);
    expect(problemOf({ decision: 'maybe' }, union)).toBe('/decision: is "maybe"; allowed are approve, reject.');
    expect(problemOf({}, union)).toBe('/decision: is missing; allowed are approve, reject.');
  });

  test('given a query or a header, then it is not called a body; given nothing is allowed, then that', () => {
    expect(problemOf({ id: 'a', x: '1' }, schema, 'the query')).toBe(
      'the query: unknown field "x"; allowed are id, phase, seconds, args.',
    );
    expect(problemOf({ x: '1' }, z.strictObject({}), 'the query', [])).toBe(
      'the query: unknown field "x"; no field is allowed.',
    );
  });

  test('given very many unknown fields, then ten are named and the others counted', () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field-${index}`, 1]));
    const said = problemOf({ id: 'a', ...many });
    expect(said).toMatch(/"field-9", and 49990 more; allowed are/);
    expect(said.length).toBeLessThan(400);
    const list = problemOf(Array(5000).fill(1), z.array(z.string()));
    expect(list).toMatch(/; and 4990 more\.$/);
  });
});

test.each(['.', '..', '...'])('given the id %j, then it is none; dots beside other characters are', (id) => {
  expect(isPlainId(id)).toBe(false);
  expect(isPlainId(`${id}a`)).toBe(true);
});

test.each(['0x10', '0b1', '1e1', '1.0', ' 1', '1 ', '+1', '01', '', '0', '101', '１'])(
  'given the limit %j, then it is refused; digits are taken',
  (limit) => {
    const query = z.strictObject({ limit: pageLimit(25) });
    expect(problemOf({ limit }, query)).toMatch(/^\/limit: is ".*"; it is a whole number from 1 to 100\.$/);
    expect([{ limit: '1' }, { limit: '10' }, { limit: '100' }, {}].map((given) => query.parse(given).limit)).toEqual([
      1, 10, 100, 25,
    ]);
  },
);
