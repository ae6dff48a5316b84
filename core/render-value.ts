import { canonicalJson } from './canonical-json.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { pointerTo } from './json-pointer.ts';

/**
 * A piece of what somebody wrote, as everybody is shown it. `text` holds only characters that leave ink, single and double
 * spaces between them, and line feeds; `mark` names what could not be seen: `U+200B`, `TAB`, `CR`, `LF ×40`, `SPACE ×5000`.
 */
export interface Part {
  kind: 'text' | 'mark';
  text: string;
}

/** One argument: a scalar or an empty container, by its place in the arguments. */
export interface RenderedArgument {
  pointer: string;
  /** The pointer as it is shown. */
  label: Part[];
  value: JsonValue;
  parts: Part[];
}

/** Most texts: nothing in them needs a second look. */
const plainWords = /^[!-~]+(?: {1,2}[!-~]+)*$/;
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\ufffc]|(?! )\p{Zs}/u;
const combining = /\p{M}/u;
const mostStacked = 2;
const mostSpaces = 2;
const mostLineFeeds = 2;

/**
 * Text of an agent or a person, as parts. Marked are: what is not visible by Unicode's own properties, combining marks
 * beyond two in a row or with nothing to stand on, runs of more than two spaces or line feeds, those at either end, and
 * spaces at the end of a line.
 * Nothing is lost: the parts say exactly what the text was.
 */
export function renderText(text: string): Part[] {
  if (plainWords.test(text)) return [{ kind: 'text', text }];
  const parts: Part[] = [];
  let shown = '';
  let stacked = mostStacked;
  const mark = (name: string) => {
    if (shown !== '') parts.push({ kind: 'text', text: shown });
    shown = '';
    stacked = mostStacked;
    parts.push({ kind: 'mark', text: name });
  };

  for (let at = 0; at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (character === ' ') {
      const run = runOf(' ', text, at);
      const unnoticed = run > mostSpaces || at === 0 || at + run === text.length || text[at + run] === '\n';
      if (unnoticed) mark(counted('SPACE', run));
      else {
        shown += ' '.repeat(run);
        stacked = 0;
      }
      at += run;
      continue;
    }
    if (character === '\n') {
      const run = runOf('\n', text, at);
      const kept = at === 0 || at + run === text.length ? 0 : run > mostLineFeeds ? 1 : run;
      shown += '\n'.repeat(kept);
      if (run > kept) mark(counted('LF', run - kept));
      stacked = mostStacked;
      at += run;
      continue;
    }
    if (!isPlain(character) && unseen.test(character)) mark(nameOf(character));
    else if (isPlain(character) || !combining.test(character)) {
      shown += character;
      stacked = 0;
    } else if (stacked < mostStacked) {
      shown += character;
      stacked += 1;
    } else mark(nameOf(character));
    at += character.length;
  }
  if (shown !== '') parts.push({ kind: 'text', text: shown });
  return parts;
}

/** {@link renderText} for what must stay on one line: names and labels. Line feeds are marked too. */
export const renderLine = (text: string): Part[] =>
  renderText(text).flatMap((part) =>
    part.kind === 'mark'
      ? [part]
      : part.text.split(/(\n+)/).flatMap((piece): Part[] => {
          if (piece === '') return [];
          return piece.startsWith('\n')
            ? [{ kind: 'mark', text: counted('LF', piece.length) }]
            : [{ kind: 'text', text: piece }];
        }),
  );

/**
 * A JSON value as parts. A string stands bare, unless it is empty or would read as a value of another kind (`"5000"`,
 * `"null"`, `"{}"`): then in its JSON form, quotes and all. Everything else stands in its canonical form.
 */
export const renderValue = (value: JsonValue): Part[] => renderText(plainForm(value));

const plainForm = (value: JsonValue): string => {
  if (typeof value !== 'string') return canonicalJson(value);
  return /^(?:["[{]|-?\d|true$|false$|null$|$)/.test(value) && readsAsJson(value) ? JSON.stringify(value) : value;
};

function readsAsJson(text: string): boolean {
  if (text === '' || text.startsWith('"')) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The arguments by pointer, in the order of their canonical form. */
export function renderArguments(actionArgs: JsonObject): RenderedArgument[] {
  const rendered: RenderedArgument[] = [];
  const visit = (value: JsonValue, path: (string | number)[]) => {
    const children = childrenOf(value);
    if (children.length > 0) for (const [token, child] of children) visit(child, [...path, token]);
    else {
      const pointer = pointerTo(path);
      rendered.push({ pointer, label: renderLine(pointer), value, parts: renderValue(value) });
    }
  };
  for (const [token, child] of childrenOf(actionArgs)) visit(child, [token]);
  return rendered;
}

function childrenOf(value: JsonValue): [string | number, JsonValue][] {
  if (Array.isArray(value)) return value.map((child, index) => [index, child]);
  if (value === null || typeof value !== 'object') return [];
  return Object.keys(value)
    .sort()
    .map((name) => [name, value[name] as JsonValue]);
}

export type Brackets = readonly ['‹', '›'] | readonly ['[', ']'];

/**
 * Plain text, marks in brackets. A bracket of the text itself that would begin something like a mark is printed as a mark,
 * so that no text can pretend to hold one.
 */
export function printText(parts: readonly Part[], [open, close]: Brackets): string {
  const pretended = open === '[' ? pretendedMark.square : pretendedMark.angle;
  return parts
    .map(({ kind, text }) =>
      kind === 'mark' ? `${open}${text}${close}` : text.replace(pretended, `${open}${nameOf(open)}${close}`),
    )
    .join('');
}

const markName = '(?:U\\+[0-9A-F]{4,6}|TAB|CR|(?:LF|SPACE)(?: ×\\d+)?)';
const pretendedMark = {
  square: new RegExp(`\\[(?=${markName}\\])`, 'g'),
  angle: new RegExp(`‹(?=${markName}›)`, 'g'),
};

const isPlain = (character: string): boolean => character > ' ' && character <= '~' && character.length === 1;

function runOf(character: string, text: string, from: number): number {
  let end = from;
  while (text[end] === character) end += 1;
  return end - from;
}

const counted = (name: string, times: number): string => (times === 1 ? name : `${name} ×${times}`);

function nameOf(character: string): string {
  if (character === '\t') return 'TAB';
  if (character === '\r') return 'CR';
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
