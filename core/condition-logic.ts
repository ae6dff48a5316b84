import {
  type Call,
  callOf,
  type Expr,
  type Parsed,
  pathOf,
  type Scalar,
  scalarOf,
  textOf,
  treeOf,
} from './condition-tree.ts';

type Order = '<' | '<=' | '>' | '>=';

/** Something that is true or not of one place; `of` names the place the same way wherever it stands. */
type Atom =
  | { kind: 'order'; of: string; op: Order; value: number }
  | { kind: 'equal'; of: string; value: Scalar; not: boolean }
  | { kind: 'type'; of: string; type: string; not: boolean }
  | { kind: 'has'; of: string; not: boolean }
  /** What is not understood: the same text is the same truth. */
  | { kind: 'other'; of: string; not: boolean };

/** A condition as what its parts say: enough to see that something can never be true, never enough to say that it can. */
export type Formula = { every: Formula[] } | { some: Formula[] } | Atom;

export const always: Formula = { every: [] };
export const never: Formula = { some: [] };

/** More ways than this to be true, and nothing is said about a condition. */
const mostWays = 400;

export function formulaOf(source: string): Formula {
  const parsed = treeOf(source);
  return formula(parsed, parsed.expr);
}

/** Whether both can be true at once, as far as can be seen: `false` is certain, `true` is not. */
export const canBeTrue = (...formulas: Formula[]): boolean => {
  const ways = waysOf({ every: formulas });
  return ways === undefined || ways.some((way) => !contradicts(way));
};

/** Whether the second is true (or cannot be read) wherever the first is true: `true` is certain. */
export const implies = (first: Formula, second: Formula, ...facts: Formula[]): boolean =>
  !canBeTrue(...facts, first, opposite(second));

/** The places of which a formula speaks. */
export const placesOf = (given: Formula): string[] => {
  if ('every' in given) return given.every.flatMap(placesOf);
  return 'some' in given ? given.some.flatMap(placesOf) : [given.of];
};

const flipped: Record<Order, Order> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
const negated: Record<Order, Order> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' };

function opposite(given: Formula): Formula {
  if ('every' in given) return { some: given.every.map(opposite) };
  if ('some' in given) return { every: given.some.map(opposite) };
  return given.kind === 'order' ? { ...given, op: negated[given.op] } : { ...given, not: !given.not };
}

function formula(parsed: Parsed, expr: Expr): Formula {
  const constant = scalarOf(expr);
  if (constant && typeof constant.value === 'boolean') return constant.value ? always : never;
  const call = callOf(parsed, expr);
  return (call && formulaOfCall(parsed, call)) ?? { kind: 'other', of: placeOf(parsed, expr), not: false };
}

function formulaOfCall(parsed: Parsed, { name, args }: Call): Formula | undefined {
  const [left, right] = args;
  if (!left) return undefined;
  if (name === '!_') return opposite(formula(parsed, left));
  if (name === 'has') return { kind: 'has', of: placeOf(parsed, left), not: false };
  if (!right) return undefined;
  if (name === '_&&_') return { every: [formula(parsed, left), formula(parsed, right)] };
  if (name === '_||_') return { some: [formula(parsed, left), formula(parsed, right)] };
  if (name === '@in' && right.exprKind.case === 'listExpr') {
    const listed = right.exprKind.value.elements.map((element) => comparison(parsed, left, '==', element));
    return listed.every((found) => found !== undefined) ? { some: listed } : undefined;
  }
  const op = /^_([<>=!]=?)_$/.exec(name)?.[1];
  return op === undefined ? undefined : comparison(parsed, left, op, right);
}

function comparison(parsed: Parsed, left: Expr, op: string, right: Expr): Formula | undefined {
  const constant = scalarOf(right);
  const first = scalarOf(left);
  if (first && constant) return compared(first.value, op, constant.value) ? always : never;
  if (first) return comparison(parsed, right, isOrder(op) ? flipped[op] : op, left);
  const typed = callOf(parsed, left);
  const isName = right.exprKind.case === 'identExpr' || right.exprKind.case === 'selectExpr';
  if (typed?.name === 'type' && typed.args[0] && isName && !isOrder(op))
    return { kind: 'type', of: placeOf(parsed, typed.args[0]), type: textOf(parsed, right), not: op === '!=' };
  if (!constant) return undefined;
  const of = placeOf(parsed, left);
  if (!isOrder(op)) return { kind: 'equal', of, value: constant.value, not: op === '!=' };
  return typeof constant.value === 'number' ? { kind: 'order', of, op, value: constant.value } : undefined;
}

const isOrder = (op: string): op is Order => Object.hasOwn(flipped, op);

function compared(left: Scalar, op: string, right: Scalar): boolean {
  if (op === '==') return left === right;
  if (op === '!=') return left !== right;
  if (typeof left !== typeof right || left === null || right === null) return false;
  if (op === '<') return left < right;
  if (op === '<=') return left <= right;
  return op === '>' ? left > right : left >= right;
}

function placeOf(parsed: Parsed, expr: Expr): string {
  const path = pathOf(parsed, expr);
  if (path && !path.includes('*')) return path.map((key) => (/^\w+$/.test(key) ? key : JSON.stringify(key))).join('.');
  const call = callOf(parsed, expr);
  const sized = call?.name === 'size' ? (call.target ?? call.args[0]) : undefined;
  return sized ? sizeOf(placeOf(parsed, sized)) : textOf(parsed, expr);
}

export const sizeOf = (place: string): string => `size(${place})`;

/** The ways in which a formula is true, each a list of what holds then; `undefined`: too many. */
function waysOf(given: Formula): Atom[][] | undefined {
  if ('some' in given) {
    const ways: Atom[][] = [];
    for (const part of given.some) {
      const more = waysOf(part);
      if (more === undefined || ways.length + more.length > mostWays) return undefined;
      ways.push(...more);
    }
    return ways;
  }
  if (!('every' in given)) return [[given]];
  let ways: Atom[][] = [[]];
  for (const part of given.every) {
    const more = waysOf(part);
    if (more === undefined || ways.length * more.length > mostWays) return undefined;
    ways = ways.flatMap((way) => more.map((other) => [...way, ...other])).filter((way) => !contradicts(way));
  }
  return ways;
}

function contradicts(way: readonly Atom[]): boolean {
  const places = Map.groupBy(way, ({ of }) => of);
  if ([...places].some(([place, atoms]) => contradictsOfOne(place, atoms))) return true;
  const absent = way.filter((atom) => atom.kind === 'has' && atom.not).map(({ of }) => of);
  return absent.some((place) =>
    way.some(
      (atom) => (atom.of === place || atom.of.startsWith(`${place}.`) || atom.of === sizeOf(place)) && isRead(atom),
    ),
  );
}

/** What can only be true of something that is there. */
const isRead = (atom: Atom): boolean => atom.kind !== 'has' || !atom.not;

/** Types that a JSON value can have for a condition, and what else is known of a place. */
const jsonTypes = ['double', 'string', 'bool', 'list', 'map', 'null_type'];

function typesOf(place: string): string[] {
  if (place.startsWith('size(') || place === 'attempt') return ['int'];
  if (/^window\.\w+\.(sum|count)$/.test(place)) return place.endsWith('.count') ? ['int'] : ['double'];
  if (place === 'agent.confidence') return ['double'];
  if (place === 'now') return ['google.protobuf.Timestamp'];
  if (['phase', 'action.name', 'run.id', 'mission.id', 'subject.id', 'agent.name'].includes(place)) return ['string'];
  return /^(args|result)\b[\w.]*$/.test(place) ? jsonTypes : [...jsonTypes, 'int', 'uint', 'bytes', 'other'];
}

const numbers = ['double', 'int', 'uint'];

const typesOfValue = (value: Scalar): string[] => {
  if (typeof value === 'number') return numbers;
  if (value === null) return ['null_type'];
  return [typeof value === 'string' ? 'string' : 'bool'];
};

function contradictsOfOne(place: string, atoms: readonly Atom[]): boolean {
  let types = typesOf(place);
  const only = (allowed: readonly string[]) => {
    types = types.filter((type) => allowed.includes(type));
  };
  let low = Number.NEGATIVE_INFINITY;
  let high = Number.POSITIVE_INFINITY;
  const open = { low: false, high: false };
  const is = new Set<Scalar>();
  const isNot = new Set<Scalar>();
  const truths = new Set<string>();
  for (const atom of atoms) {
    if (atom.kind === 'equal' && atom.not) isNot.add(atom.value);
    else if (atom.kind === 'equal') {
      is.add(atom.value);
      only(typesOfValue(atom.value));
    } else if (atom.kind === 'type') only(atom.not ? types.filter((type) => type !== atom.type) : [atom.type]);
    else if (atom.kind === 'order') {
      only(numbers);
      const strict = atom.op === '<' || atom.op === '>';
      if (atom.op.startsWith('>') && (atom.value > low || (atom.value === low && strict))) {
        low = atom.value;
        open.low = strict;
      }
      if (atom.op.startsWith('<') && (atom.value < high || (atom.value === high && strict))) {
        high = atom.value;
        open.high = strict;
      }
    } else truths.add(`${atom.kind} ${atom.not}`);
  }
  if (types.length === 0 || is.size > 1 || [...is].some((value) => isNot.has(value))) return true;
  if (truths.has('other true') && truths.has('other false')) return true;
  if (truths.has('has true') && truths.has('has false')) return true;
  for (const value of is)
    if (
      typeof value === 'number' &&
      (value < low || value > high || (value === low && open.low) || (value === high && open.high))
    )
      return true;
  return emptyRange({ low, high, open, whole: types.every((type) => type === 'int'), isNot });
}

interface Range {
  low: number;
  high: number;
  open: { low: boolean; high: boolean };
  whole: boolean;
  isNot: ReadonlySet<Scalar>;
}

function emptyRange({ low, high, open, whole, isNot }: Range): boolean {
  if (!whole) return low > high || (low === high && (open.low || open.high || isNot.has(low)));
  let first = open.low && Number.isInteger(low) ? low + 1 : Math.ceil(low);
  const last = open.high && Number.isInteger(high) ? high - 1 : Math.floor(high);
  while (isNot.has(first)) first += 1;
  return first > last;
}
