import { allOf, type Call, callOf, type Expr, type Parsed, scalarOf, textOf, treeOf } from './condition-tree.ts';

type Constant = Extract<Expr['exprKind'], { case: 'constExpr' }>['value'];

/** A condition with one small mistake in it. */
export interface ConditionMutant {
  source: string;
  /** `args.amount > 500.0` where the mutant says something else, and what it says. */
  was: string;
  is: string;
}

/** The neighbour on the other side of the boundary, and the opposite. */
const otherOperators: Readonly<Record<string, readonly string[]>> = {
  '_<_': ['_<=_', '_>=_'],
  '_<=_': ['_<_', '_>_'],
  '_>_': ['_>=_', '_<=_'],
  '_>=_': ['_>_', '_<_'],
  '_==_': ['_!=_'],
  '_!=_': ['_==_'],
  '_&&_': ['_||_'],
  '_||_': ['_&&_'],
};
const comparisons = ['_<_', '_<=_', '_>_', '_>=_', '_==_', '_!=_'];

/** Every condition with one operator flipped, one negation left out, or one bound moved by one or by its last written decimal. */
export function mutationsOf(source: string): ConditionMutant[] {
  const parsed = treeOf(source);
  const mutants = allOf(parsed).flatMap((expr) => {
    const call = callOf(parsed, expr);
    return call ? [...flips(parsed, expr, call), ...shifts(parsed, source, expr, call)] : [];
  });
  const original = textOf(parsed);
  return [
    ...new Map(
      mutants.filter((mutant) => mutant.source !== original).map((mutant) => [mutant.source, mutant]),
    ).values(),
  ];
}

function flips(parsed: Parsed, expr: Expr, call: Call): ConditionMutant[] {
  const [inner] = call.args;
  if (call.name === '!_' && inner)
    return [mutant(parsed, expr, expr, (copy) => Object.assign(copy, { id: inner.id, exprKind: inner.exprKind }))];
  return (otherOperators[call.name] ?? []).map((name) =>
    mutant(parsed, expr, expr, ({ exprKind }) => {
      if (exprKind.case === 'callExpr') exprKind.value.function = name;
    }),
  );
}

function shifts(parsed: Parsed, source: string, expr: Expr, call: Call): ConditionMutant[] {
  if (!comparisons.includes(call.name)) return [];
  return call.args.flatMap((bound) => {
    const value = scalarOf(bound)?.value;
    if (typeof value !== 'number') return [];
    const decimals = writtenDecimals(parsed, source, bound, value);
    const steps = [1, ...(decimals > 0 ? [10 ** -decimals] : [])].flatMap((step) => [step, -step]);
    return steps.map((step) =>
      mutant(parsed, expr, bound, ({ exprKind }) => {
        if (exprKind.case === 'constExpr') move(exprKind.value, step, decimals);
      }),
    );
  });
}

function move({ constantKind }: Constant, step: number, decimals: number): void {
  if (constantKind.case === 'doubleValue') constantKind.value = Number((constantKind.value + step).toFixed(decimals));
  if (constantKind.case === 'int64Value') constantKind.value += BigInt(Math.sign(step));
  if (constantKind.case === 'uint64Value' && constantKind.value + BigInt(Math.sign(step)) >= 0n)
    constantKind.value += BigInt(Math.sign(step));
}

/** How many decimals a number was written with: `500.0` has one, and so can be a tenth off. */
export function writtenDecimals(parsed: Parsed, source: string, expr: Expr, value: number): number {
  const position = parsed.sourceInfo?.positions[String(expr.id)] ?? 0;
  const literal = /^\s*-?\s*(\d*\.?(\d*)(?:[eE][+-]?\d+)?)/.exec([...source].slice(position).join(''));
  const decimals = literal && Number(literal[1]) === Math.abs(value) ? literal[2] : String(value).split('.')[1];
  return Math.min(decimals?.length ?? 0, 15);
}

/** A copy in which one expression, wherever the tree holds it, is changed. `around` is what is shown of the change. */
function mutant(parsed: Parsed, around: Expr, changed: Expr, change: (copy: Expr) => void): ConditionMutant {
  const copy = structuredClone(parsed);
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const child of Object.values(node)) visit(child);
    if (isExpr(node) && node.id === changed.id && node.exprKind.case !== undefined) change(node);
  };
  const shown = allOf(copy).find(({ id }) => id === around.id) ?? copy.expr;
  const was = textOf(parsed, around);
  visit(copy);
  return { source: textOf(copy), was, is: textOf(copy, shown) };
}

const isExpr = (node: object): node is Expr => '$typeName' in node && node.$typeName === 'cel.expr.Expr';
