import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import { CountersignError } from './errors.ts';
import { survivesDouble } from './exact-number.ts';
import type { JsonValue } from './json.ts';
import { pointerTo } from './json-pointer.ts';

/** How deep objects and arrays may stand in each other. */
const maxNesting = 32;

const longestPlace = 200;

/**
 * Reads JSON from outside so that what is stored is what was sent. Refuses with `VALIDATION_FAILED`, naming the place:
 * text that is not exactly JSON, a member given twice or named `__proto__`, a lone surrogate, nesting beyond `maxDepth`,
 * a number whose decimal value a double would change. Stops at the first fault; the cost is linear in the text.
 * Messages name places, never values.
 */
export function parseStrict(text: string, { maxDepth = maxNesting }: { maxDepth?: number } = {}): JsonValue {
  const members: (Set<string> | undefined)[] = [];
  const enter = (container: Set<string> | undefined, path: (string | number)[]) => {
    members.push(container);
    if (members.length > maxDepth) refuse(`${placeOf(path)} is nested deeper than ${maxDepth} levels`);
  };

  visit(
    text,
    {
      onObjectBegin: (_offset, _length, _line, _character, path) => enter(new Set(), path()),
      onArrayBegin: (_offset, _length, _line, _character, path) => enter(undefined, path()),
      onObjectEnd: () => void members.pop(),
      onArrayEnd: () => void members.pop(),
      onObjectProperty(name, _offset, _length, _line, _character, path) {
        if (!name.isWellFormed()) refuse(`a member's name in ${placeOf(path())} holds a lone surrogate`);
        const known = members.at(-1);
        if (name === '__proto__') refuse(`${placeOf([...path(), name])}: a member may not be named __proto__`);
        if (known?.has(name)) refuse(`${placeOf([...path(), name])} is given twice`);
        known?.add(name);
      },
      onLiteralValue(value, offset, length, _line, _character, path) {
        if (typeof value === 'string' && !value.isWellFormed()) refuse(`${placeOf(path())} holds a lone surrogate`);
        if (typeof value === 'number' && !survivesDouble(text.slice(offset, offset + length))) {
          refuse(
            `the number at ${placeOf(path())} would change its value as a double; send it as a string, or with at most 15 digits`,
          );
        }
      },
      onError(error, _offset, _length, line, character) {
        refuse(`not JSON at line ${line + 1}, column ${character + 1}: ${wordsOf(error)}`);
      },
    },
    { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
  );

  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    refuse('not JSON: comments, trailing commas and the like are not allowed');
  }
}

function placeOf(path: (string | number)[]): string {
  if (path.length === 0) return 'the whole value';
  const pointer = pointerTo(path);
  const shown = pointer.length > longestPlace ? `${pointer.slice(0, longestPlace)}…` : pointer;
  return shown.toWellFormed();
}

/** `InvalidCommentToken` → `invalid comment token`. */
const wordsOf = (error: ParseErrorCode): string =>
  printParseErrorCode(error)
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .toLowerCase();

function refuse(detail: string): never {
  throw new CountersignError('VALIDATION_FAILED', detail);
}
