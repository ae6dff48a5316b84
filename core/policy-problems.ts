import type * as z from 'zod';
import { pointerTo } from './json-pointer.ts';

type Issue = z.core.$ZodIssue;

const longestShown = 80;

export const placeOf = (path: readonly PropertyKey[]): string =>
  path.length === 0 ? 'the document' : pointerTo(path.map(String));

/** What was given at an issue's place and what is allowed there. Needs issues made with `reportInput`. */
export function givenAndAllowed(issue: Issue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
    case 'custom':
      return issue.input === undefined || typeof issue.input === 'object'
        ? issue.message
        : `is ${shown(issue.input)}; ${issue.message}`;
    case 'invalid_value':
      return `${given(issue)}; allowed are ${issue.values.map(String).join(', ')}`;
    case 'invalid_type':
      return `${given(issue)}; ${withArticle(issue.expected)} is needed`;
    case 'too_small':
      return `${given(issue)}; at least ${issue.minimum}${unitOf(issue.origin)} is allowed`;
    case 'too_big':
      return `${given(issue)}; at most ${issue.maximum}${unitOf(issue.origin)} is allowed`;
    case 'invalid_key':
      return `is no name that it can have: ${issue.issues.map(({ message }) => message).join(', ')}`;
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_union':
    case 'invalid_element':
      return `${given(issue)}; ${issue.message}`;
  }
}

/** An own member of whatever this is, never one of a prototype. */
export const ownMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

const given = (issue: Issue): string => (issue.input === undefined ? 'is missing' : `is ${shown(issue.input)}`);

function shown(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}… (${text.length} characters)` : text;
}

function withArticle(expected: string): string {
  const word = { int: 'whole number', array: 'list', record: 'object' }[expected] ?? expected;
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}
