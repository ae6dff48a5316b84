import { canonicalJson } from './canonical-json.ts';
import { CountersignError } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** RFC 6901: `/actionArgs/card/number` → its tokens. The empty pointer names the whole value. Throws `VALIDATION_FAILED`. */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) {
    throw new CountersignError(
      'VALIDATION_FAILED',
      `${JSON.stringify(pointer)} is no JSON Pointer: it must begin with /`,
    );
  }
  if (/~(?![01])/.test(pointer)) {
    throw new CountersignError(
      'VALIDATION_FAILED',
      `${JSON.stringify(pointer)} is no JSON Pointer: ~ may stand only in ~0 (for ~) and ~1 (for /)`,
    );
  }
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export const pointerTo = (tokens: readonly (string | number)[]): string =>
  tokens.map((token) => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** What stands at the pointer, or `undefined`. Looks at own members only, never at a prototype. */
export const valueAt = (value: JsonValue, pointer: string): JsonValue | undefined => walk(value, parsePointer(pointer));

/** A copy with `replacement` where the pointer leads; the value itself where it leads to nothing. */
export const replaceAt = (value: JsonValue, pointer: string, replacement: JsonValue): JsonValue =>
  replace(value, parsePointer(pointer), replacement);

/**
 * A copy in which every value at a secret path is `[hidden by policy, N characters]`. The paths are pointers into the
 * request: the value given has the request's members (`actionArgs`, `contextSummary` …), any of them. Where a value has
 * another shape than a path expects, all of it is hidden: see {@link secretPlaces}.
 */
export function maskSecrets<Shape extends object>(value: Shape, secretPaths: readonly string[]): Shape {
  const given = value as unknown as JsonValue;
  let masked = given;
  for (const place of secretPlaces(given, secretPaths)) masked = replace(masked, place, maskOf(walk(given, place)));
  return masked as unknown as Shape;
}

/** {@link maskSecrets} for arguments alone. */
export const maskArguments = (actionArgs: JsonObject, secretPaths: readonly string[]): JsonObject =>
  maskSecrets({ actionArgs }, secretPaths).actionArgs;

/**
 * An approver edits what they may see. Where the edit still holds the mask of the original value at a secret path, the
 * original value is put back; whatever else the edit holds there stands.
 */
export function restoreSecrets(
  editedArgs: JsonObject,
  originalArgs: JsonObject,
  secretPaths: readonly string[],
): JsonObject {
  const original = { actionArgs: originalArgs };
  let restored: JsonValue = { actionArgs: editedArgs };
  for (const place of secretPlaces(original, secretPaths)) {
    const secret = walk(original, place);
    if (secret !== undefined && walk(restored, place) === maskOf(secret)) restored = replace(restored, place, secret);
  }
  return (restored as { actionArgs: JsonObject }).actionArgs;
}

function maskOf(secret: JsonValue = null): string {
  const text = typeof secret === 'string' ? secret : canonicalJson(secret);
  return `[hidden by policy, ${[...text].length} characters]`;
}

/**
 * What the secret paths hide in this value: tokens of places, none inside another. A path that meets a text, a number, or a
 * list where it names a member (or an object where it names a place of a list) hides what it met: the secret may be in there.
 * A member that is not there hides nothing.
 */
export function secretPlaces(value: JsonValue, secretPaths: readonly string[]): string[][] {
  const places = secretPaths
    .flatMap((pointer) => secretPlace(value, parsePointer(pointer)) ?? [])
    .toSorted((one, other) => one.length - other.length);
  const isInside = (place: string[], outer: string[]) => outer.every((token, at) => token === place[at]);
  return places.filter((place, index) => !places.slice(0, index).some((outer) => isInside(place, outer)));
}

function secretPlace(value: JsonValue, tokens: string[]): [string[]] | undefined {
  let here = value;
  for (const [depth, token] of tokens.entries()) {
    const child = childOf(here, token);
    if (child === undefined)
      return depth > 0 && isOfOtherShape(here, token, depth) ? [tokens.slice(0, depth)] : undefined;
    here = child;
  }
  return [tokens];
}

const arrayIndex = /^(0|[1-9]\d*)$/;

/** The request and its arguments are objects, whatever a path names in them. */
const isOfOtherShape = (value: JsonValue, token: string, depth: number): boolean =>
  value === null || typeof value !== 'object' || (depth > 1 && Array.isArray(value) !== arrayIndex.test(token));

function walk(value: JsonValue, tokens: readonly string[]): JsonValue | undefined {
  let here: JsonValue | undefined = value;
  for (const token of tokens) here = childOf(here, token);
  return here;
}

function childOf(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (Array.isArray(value)) return arrayIndex.test(token) ? value[Number(token)] : undefined;
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, token)) return undefined;
  return value[token];
}

function replace(value: JsonValue, tokens: readonly string[], replacement: JsonValue): JsonValue {
  const [token, ...rest] = tokens;
  if (token === undefined) return replacement;
  const child = childOf(value, token);
  if (child === undefined) return value;
  const replaced = replace(child, rest, replacement);
  if (Array.isArray(value)) return value.with(Number(token), replaced);
  return { ...(value as JsonObject), [token]: replaced };
}
