import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileCondition } from '../../../core/condition.ts';
import { vocabulary } from '../../../core/condition-names.ts';
import { factsOf } from '../../../core/evaluation.ts';
import type { JsonObject } from '../../../core/json.ts';

const page = readFileSync(new URL('../../../docs/conditions.md', import.meta.url), 'utf8');

const examples = [...page.matchAll(/^\| `(.+)` \| `(\{.*\})` \| (true|false|cannot be read) \|$/gm)].map(
  ([, condition = '', args = '', made = '']) => ({ condition: condition.replaceAll('\\|', '|'), args, made }),
);

describe('the examples of docs/conditions.md', () => {
  test('there are some', () => expect(examples.length).toBeGreaterThan(10));

  test.each(examples)('$condition with $args: $made', ({ condition, args, made }) => {
    const truth = compileCondition(condition).evaluate(
      factsOf({
        actionName: 'pay',
        actionArgs: JSON.parse(args) as JsonObject,
        runId: 'run-1',
        missionId: 'default',
        phase: 'before',
        requestedBy: 'support-bot',
        now: '2026-11-30T14:00:00.000Z',
        attempt: 1,
      }),
    );
    expect('value' in truth ? String(truth.value) : 'cannot be read').toBe(made);
  });

  test('every name that a condition may use is on the page', () => {
    for (const name of Object.keys(vocabulary)) expect(page).toMatch(new RegExp(`\\| .*\`${name}[\`.]`));
  });
});
