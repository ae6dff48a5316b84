import { writtenDecimals } from './condition-mutation.ts';
import { allOf, callOf, type Expr, type Parsed, pathOf, scalarOf, treeOf } from './condition-tree.ts';
import type { JsonValue } from './json.ts';

/** A place in the facts, and values from both sides of what a condition says of it. */
export interface Candidate {
  path: string[];
  values: JsonValue[];
}

const longestSize = 1000;
const ordered = /^_([<>]=?|[=!]=)_$/;
const textTests = ['startsWith', 'endsWith', 'contains', 'matches'];

/** Values for every place that the conditions look at, derived from the constants that they hold. */
export function candidatesOf(sources: readonly string[]): Candidate[] {
  const found = new Map<string, Candidate>();
  const add = (path: string[] | undefined, values: JsonValue[]) => {
    if (path === undefined) return;
    const key = JSON.stringify(path);
    const known = found.get(key)?.values ?? [];
    const all = [...new Map([...known, ...values].map((value) => [JSON.stringify(value), value])).values()];
    found.set(key, { path, values: all });
  };
  for (const source of sources) {
    const parsed = treeOf(source);
    walk(parsed, source, parsed.expr, new Map(), add);
  }
  const inner = [...found.values()];
  return inner.filter(
    ({ path }) =>
      !inner.some((other) => other.path.length > path.length && path.every((key, at) => other.path[at] === key)),
  );
}

type Loops = ReadonlyMap<string, string[]>;
type Add = (path: string[] | undefined, values: JsonValue[]) => void;

function walk(parsed: Parsed, source: string, expr: Expr, loops: Loops, add: Add): void {
  const call = callOf(parsed, expr);
  if (!call) {
    add(factPath(parsed, expr, loops), [true, false]);
    return;
  }
  const { name, target, args } = call;
  const inside = loopOf(parsed, call, loops);
  if (inside) {
    add(factPath(parsed, inside.over, loops), [[]]);
    for (const part of inside.parts) walk(parsed, source, part, inside.loops, add);
    return;
  }
  for (const part of [...(target ? [target] : []), ...args])
    if (callOf(parsed, part)) walk(parsed, source, part, loops, add);
  const tell = (about: Expr | undefined, values: JsonValue[]) => {
    for (const path of about ? factPaths(parsed, about, loops) : []) add(path, values);
  };
  const [left, right] = args;
  if (name === 'has') tell(left, ['x']);
  if (name === '_&&_' || name === '_||_' || name === '!_') {
    for (const part of args) if (!callOf(parsed, part)) walk(parsed, source, part, loops, add);
    return;
  }
  if (textTests.includes(name)) {
    const text = scalarOf(args.at(-1))?.value;
    if (typeof text === 'string') tell(target ?? left, textsFrom(text, name));
    return;
  }
  if (name === '@in' && left && right) membership(left, right, tell);
  if (!ordered.test(name) || !left || !right) return;
  for (const [about, other] of [
    [left, right],
    [right, left],
  ] as const) {
    const constant = scalarOf(other);
    if (constant) tell(about, valuesAround(parsed, source, about, other, constant.value));
    else if (!scalarOf(about)) tell(about, [1, 2, 'a', 'b']);
  }
}

function membership(element: Expr, list: Expr, tell: (about: Expr, values: JsonValue[]) => void): void {
  const constant = scalarOf(element);
  if (constant) tell(list, [[constant.value], []]);
  if (constant || list.exprKind.case !== 'listExpr') return;
  const constants = list.exprKind.value.elements.flatMap((item) => scalarOf(item)?.value ?? []);
  tell(element, [...constants, 'x']);
}

const textsFrom = (text: string, test: string): string[] => {
  const plain = test === 'matches' ? text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '') : text;
  return [plain, `x${plain}`, `${plain}x`, 'x'];
};

function valuesAround(parsed: Parsed, source: string, about: Expr, constant: Expr, value: JsonValue): JsonValue[] {
  if (typeof value === 'string') return [value, `${value}x`, 'x'];
  if (typeof value !== 'number') return [value, ...(typeof value === 'boolean' ? [!value] : ['x'])];
  const call = callOf(parsed, about);
  if (call?.name === 'size')
    return [value - 1, value, value + 1]
      .filter((size) => size >= 0 && size <= longestSize)
      .flatMap((size) => ['a'.repeat(size), Array.from({ length: size }, () => 'a')]);
  const decimals = Math.max(1, writtenDecimals(parsed, source, constant, value));
  const step = 10 ** -decimals;
  const numbers = [value, value + step, value - step, value + 1, value - 1].map((near) =>
    Number(near.toFixed(decimals)),
  );
  if (call?.name === 'double' || call?.name === 'int') return [...numbers, ...numbers.map(String)];
  return call ? [...numbers, 0, 1] : numbers;
}

/** The loop that a macro is: what it goes over, the names it gives, and what it looks at. */
function loopOf(parsed: Parsed, { name, target, args }: NonNullable<ReturnType<typeof callOf>>, loops: Loops) {
  if (!target || !['all', 'exists', 'exists_one', 'map', 'filter'].includes(name)) return undefined;
  const [variable, ...parts] = args;
  const over = pathOf(parsed, target, loops);
  if (variable?.exprKind.case !== 'identExpr' || over === undefined) return undefined;
  return { over: target, parts, loops: new Map([...loops, [variable.exprKind.value.name, [...over, '*']]]) };
}

const roots = ['args', 'result', 'agent', 'subject', 'phase', 'attempt', 'action', 'window'];

function factPath(parsed: Parsed, expr: Expr, loops: Loops): string[] | undefined {
  const path = pathOf(parsed, expr, loops);
  return path && roots.includes(path[0] ?? '') ? path : undefined;
}

/** The places that an expression is computed from. */
function factPaths(parsed: Parsed, expr: Expr, loops: Loops): string[][] {
  const own = factPath(parsed, expr, loops);
  if (own) return [own];
  return allOf(parsed, expr).flatMap((part) => {
    const path = factPath(parsed, part, loops);
    return path ? [path] : [];
  });
}
