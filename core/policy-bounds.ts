import type { Bounds } from './bounds.ts';
import { placeOf } from './policy-problems.ts';
import { type PolicyDocument, secondsOfSpan } from './policy-schema.ts';
import type { Window } from './window.ts';

type WindowDocument = NonNullable<PolicyDocument['windows']>[number];

export function boundsOf({ maxRequests, maxPending = {} }: PolicyDocument): Bounds {
  const { run, agent } = typeof maxPending === 'number' ? { run: maxPending } : maxPending;
  return {
    ...(maxRequests !== undefined && { maxRequests }),
    maxPending: { ...(run !== undefined && { run }), ...(agent !== undefined && { agent }) },
  };
}

export const windowOf = ({ id, by, value, over, actions }: WindowDocument): Window => ({
  id,
  by,
  ...(value !== undefined && { value }),
  overSeconds: secondsOfSpan(over) ?? 0,
  ...(actions && { actions: new Set(actions) }),
});

/** A sum would give away what a secret path hides: amounts stand in the audit. */
export function windowProblems({ windows = [], actions }: PolicyDocument): string[] {
  return windows.flatMap(({ value, actions: counted }, index) => {
    if (value === undefined) return [];
    const hidden = Object.entries(actions).filter(
      ([name, { secretPaths = [] }]) =>
        (counted?.includes(name) ?? true) && secretPaths.some((path) => overlap(path, `/actionArgs${value}`)),
    );
    return hidden.map(
      ([name]) => `${placeOf(['windows', index, 'value'])} is ${value}, which the secretPaths of ${name} hide`,
    );
  });
}

const overlap = (one: string, other: string): boolean =>
  `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
