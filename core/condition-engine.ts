import {
  type CelEnv,
  type CelList,
  CelScalar,
  type CelValue,
  celEnv,
  celFunc,
  celMap,
  celMethod,
  isCelList,
  isCelMap,
  listType,
  type parse,
} from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';

type Expr = ReturnType<typeof parse>['expr'];

/**
 * What all conditions together may do for one request: calls, turns of loops, values compared, texts read. A million are some
 * 200 ms of processor time; two thousand line items looked at by one loop are some ten thousand.
 */
export const workPerRequest = 800_000;

/** The longest text that a condition may make, in UTF-16 code units. */
const longestText = 1_048_576;

export interface Work {
  left: number;
}

let work: Work = { left: Infinity };

/** Runs what evaluates conditions and takes what it does from `allowed`; what goes beyond throws inside, and leaves `left` negative. */
export function within<Result>(allowed: Work, evaluate: () => Result): Result {
  const before = work;
  work = allowed;
  try {
    return evaluate();
  } finally {
    work = before;
  }
}

function charge(units: number): void {
  work.left -= units;
  if (work.left < 0) throw new Error('the request is too large for the conditions of its policy');
}

function requireShort(length: number): void {
  if (length > longestText)
    throw new Error(`the condition makes a text of ${length} characters; at most ${longestText} are allowed`);
}

const listSymbol = Symbol.for('@bufbuild/cel/list');

/** A list that a loop makes: appending to the newest one is one step, where the engine's own nests a list in a list each time. */
class GrownList {
  readonly [listSymbol] = {};
  readonly size: number;
  readonly #items: CelValue[];

  constructor(items: CelValue[], size = items.length) {
    this.#items = items;
    this.size = size;
  }

  get(index: number): CelValue | undefined {
    return index < 0 || index >= this.size ? undefined : this.#items[index];
  }

  *values(): IterableIterator<CelValue> {
    for (let index = 0; index < this.size; index++) yield this.#items[index] as CelValue;
  }

  [Symbol.iterator](): IterableIterator<CelValue> {
    return this.values();
  }

  with(more: readonly CelValue[]): GrownList {
    if (this.#items.length !== this.size) {
      charge(this.size);
      return new GrownList([...this.values(), ...more]);
    }
    for (const item of more) this.#items.push(item);
    return new GrownList(this.#items, this.size + more.length);
  }
}

const isGrown = (list: unknown): list is GrownList => list instanceof GrownList;

/** The engine knows its lists by the symbol, which its types keep to themselves. */
const asList = (list: GrownList): CelList => list as unknown as CelList;

function concatenated(left: CelList, right: CelList): CelList {
  charge(right.size);
  const more = [...right];
  if (isGrown(left)) return asList(left.with(more));
  charge(left.size);
  return asList(new GrownList([...left, ...more]));
}

function replaced(text: string, part: string, by: string, most = Infinity): string {
  const pieces = part === '' ? ['', ...text] : text.split(part);
  if (part === '' && text !== '') pieces.push('');
  charge(pieces.length);
  const times = Math.max(0, Math.min(most < 0 ? Infinity : most, pieces.length - 1));
  requireShort(text.length + times * (by.length - part.length));
  return (
    pieces
      .slice(0, times)
      .map((piece) => piece + by)
      .join('') + pieces.slice(times).join(part)
  );
}

/** The engine's own makes NaN of a text that is no number, which is neither more nor less than anything: a rule would not see it. */
function doubleOf(text: string): number {
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text);
  const [, sign, word] = /^([+-]?)(nan|inf|infinity)$/i.exec(text) ?? [];
  if (word === undefined) throw new Error(`${JSON.stringify(text.slice(0, 40))} is no number`);
  return word.toLowerCase() === 'nan' ? Number.NaN : sign === '-' ? -Infinity : Infinity;
}

/** The engine's own takes nothing at all for 0. */
function wholeOf(text: string): bigint {
  if (!/^[+-]?\d{1,20}$/.test(text)) throw new Error(`${JSON.stringify(text.slice(0, 40))} is no whole number`);
  const whole = BigInt(text.replace('+', ''));
  if (BigInt.asIntN(64, whole) !== whole) throw new Error(`${text} is too large for int`);
  return whole;
}

function hasMember(value: CelValue, name: string): boolean {
  if (!isCelMap(value)) throw new Error(`there can be no .${name} in what is no object`);
  return value.has(name);
}

const { BOOL, DOUBLE, DYN, STRING, INT } = CelScalar;
const list = listType(DYN);

const environment = celEnv({
  funcs: [
    ...strings,
    celFunc('@turn', [DYN], DYN, (condition) => condition),
    celFunc('@has', [DYN, STRING], BOOL, hasMember),
    celFunc('double', [STRING], DOUBLE, doubleOf),
    celFunc('int', [STRING], INT, wholeOf),
    celFunc('_+_', [list, list], list, concatenated),
    celMethod('replace', STRING, [STRING, STRING], STRING, function (part, by) {
      return replaced(this, part, by);
    }),
    celMethod('replace', STRING, [STRING, STRING, INT], STRING, function (part, by, most) {
      return replaced(this, part, by, Number(most));
    }),
  ],
});

/** Functions that look at every value in what they are given. */
const deep = new Set(['_==_', '_!=_', '@in', 'join', 'format']);

/** Characters read in the time of one call. */
const charactersPerUnit: Readonly<Record<string, number>> = { matches: 3, split: 2, format: 2 };

function chargeFor(name: string, value: CelValue | undefined): void {
  if (typeof value === 'string' || value instanceof Uint8Array) charge(value.length / (charactersPerUnit[name] ?? 32));
  else if (deep.has(name)) chargeDeep(name, value);
}

function chargeDeep(name: string, value: CelValue | undefined): void {
  if (isCelList(value)) {
    charge(1 + value.size);
    for (const item of value) chargeFor(name, item);
  } else if (isCelMap(value)) {
    charge(1 + value.size);
    for (const [key, item] of value) {
      chargeFor(name, key as CelValue);
      chargeFor(name, item);
    }
  }
}

/** How long a text comes out, where it may be longer than what goes in. */
function lengthOf(name: string, target: CelValue | undefined, [first, second]: CelValue[]): number {
  if (name === '_+_' && (typeof first === 'string' || first instanceof Uint8Array))
    return first.length + (typeof second === 'string' || second instanceof Uint8Array ? second.length : 0);
  if (name === 'join' && isCelList(target)) {
    const between = typeof first === 'string' ? first.length : 0;
    return [...target].reduce<number>((sum, item) => sum + between + (typeof item === 'string' ? item.length : 0), 0);
  }
  return 0;
}

type Funcs = CelEnv['funcs'];
type Group = NonNullable<ReturnType<Funcs['find']>>;

/** Between two doubles or two texts, which most conditions compare, without the search among the overloads. */
const compared = new Map<string, <Scalar extends number | string>(left: Scalar, right: Scalar) => boolean>([
  ['_==_', (left, right) => left === right],
  ['_!=_', (left, right) => left !== right],
  ['_<_', (left, right) => left < right],
  ['_<=_', (left, right) => left <= right],
  ['_>_', (left, right) => left > right],
  ['_>=_', (left, right) => left >= right],
]);

const metered = (group: Group, compare = compared.get(group.name)): Group => ({
  name: group.name,
  [Symbol.iterator]: () => group[Symbol.iterator](),
  call(id, target, args) {
    charge(1);
    chargeFor(group.name, target);
    for (const arg of args) chargeFor(group.name, arg);
    if (compare && args.length === 2) {
      const [left, right] = args;
      if (typeof left === 'number' && typeof right === 'number') return compare(left, right);
      if (typeof left === 'string' && typeof right === 'string') return compare(left, right);
    }
    requireShort(lengthOf(group.name, target, args));
    return group.call(id, target, args);
  },
});

const groups = new Map<string, Group | undefined>();

function find(name: string): Group | undefined {
  if (!groups.has(name)) {
    const group = environment.funcs.find(name);
    groups.set(name, group && metered(group));
  }
  return groups.get(name);
}

/**
 * The engine as configured: the CEL standard library and its string functions, each call taken from the work that is allowed.
 * Regular expressions are RE2: linear in the text.
 */
export const engine: CelEnv = Object.create(environment, {
  funcs: { value: { ...environment.funcs, find, [Symbol.iterator]: () => environment.funcs[Symbol.iterator]() } },
});

/** The condition of a loop, counted on each turn. */
export const counted = (condition: Expr): Expr =>
  condition && {
    ...condition,
    exprKind: {
      case: 'callExpr',
      value: { $typeName: 'cel.expr.Expr.Call', function: '@turn', args: [condition] },
    },
  };

/** `has(a.b)`, which is neither yes nor no where `a` is no object; the engine's own says no. */
export const presence = (id: bigint, operand: NonNullable<Expr>, field: string): NonNullable<Expr>['exprKind'] => ({
  case: 'callExpr',
  value: {
    $typeName: 'cel.expr.Expr.Call',
    function: '@has',
    args: [operand, constant(id, field)],
  },
});

const constant = (id: bigint, value: string): NonNullable<Expr> => ({
  $typeName: 'cel.expr.Expr',
  id,
  exprKind: {
    case: 'constExpr',
    value: { $typeName: 'cel.expr.Constant', constantKind: { case: 'stringValue', value } },
  },
});

/** A map that holds what is `null` too: the engine's own says that such a key is not there, so a rule would not see it. */
export function factMap(entries: Map<string, CelValue>): CelValue {
  const map = celMap(entries);
  map.has = (key) => map.get(key) !== undefined;
  return map;
}
