import { parse, unparse } from '@bufbuild/cel';

export type Parsed = ReturnType<typeof parse>;
export type Expr = Parsed['expr'];

/** A call, an operator among them, with the text of its name as the parser writes it (`_>=_`, `size`, `@in`). */
export interface Call {
  name: string;
  target: Expr | undefined;
  args: Expr[];
}

/** The tree of a condition that was checked before. */
export const treeOf = (source: string): Parsed => parse(source);

/** The expression as it was written: a macro (`has`, `all` …) is the call that it was, not the loop that it became. */
const written = (parsed: Parsed, expr: Expr): Expr => parsed.sourceInfo?.macroCalls[String(expr.id)] ?? expr;

export function callOf(parsed: Parsed, expr: Expr): Call | undefined {
  const { exprKind } = written(parsed, expr);
  if (exprKind.case !== 'callExpr') return undefined;
  const { function: name, target, args } = exprKind.value;
  return { name, target, args };
}

/** The parts of an expression as written, none of what a macro became. */
function partsOf(parsed: Parsed, expr: Expr): Expr[] {
  const { exprKind } = written(parsed, expr);
  switch (exprKind.case) {
    case 'selectExpr':
      return exprKind.value.operand ? [exprKind.value.operand] : [];
    case 'callExpr':
      return [...(exprKind.value.target ? [exprKind.value.target] : []), ...exprKind.value.args];
    case 'listExpr':
      return exprKind.value.elements;
    case 'structExpr':
      return exprKind.value.entries.flatMap(({ keyKind, value }) => [
        ...(keyKind.case === 'mapKey' ? [keyKind.value] : []),
        ...(value ? [value] : []),
      ]);
    default:
      return [];
  }
}

/** Every expression as written, from the outside in. */
export const allOf = (parsed: Parsed, expr: Expr = parsed.expr): Expr[] => [
  expr,
  ...partsOf(parsed, expr).flatMap((part) => allOf(parsed, part)),
];

export const textOf = (parsed: Parsed, expr: Expr = parsed.expr): string => unparse({ ...parsed, expr });

export type Scalar = number | string | boolean | null;

/** The value of a constant; `undefined` for anything else. */
export function scalarOf(expr: Expr | undefined): { value: Scalar } | undefined {
  if (expr?.exprKind.case !== 'constExpr') return undefined;
  const { constantKind } = expr.exprKind.value;
  switch (constantKind.case) {
    case 'doubleValue':
    case 'stringValue':
    case 'boolValue':
      return { value: constantKind.value };
    case 'int64Value':
    case 'uint64Value':
      return { value: Number(constantKind.value) };
    case 'nullValue':
      return { value: null };
    default:
      return undefined;
  }
}

/**
 * The same names for the same place: `args.a["b"]` and `args["a"].b` are both `["args", "a", "b"]`; a member of a list that a loop looks at
 * is `*`. `undefined` for what is computed.
 */
export function pathOf(
  parsed: Parsed,
  expr: Expr,
  loops: ReadonlyMap<string, string[]> = new Map(),
): string[] | undefined {
  const { exprKind } = written(parsed, expr);
  if (exprKind.case === 'identExpr') return loops.get(exprKind.value.name) ?? [exprKind.value.name];
  if (exprKind.case === 'selectExpr' && exprKind.value.operand) {
    const outer = pathOf(parsed, exprKind.value.operand, loops);
    return outer && [...outer, exprKind.value.field];
  }
  const call = callOf(parsed, expr);
  if (call?.name !== '_[_]' || !call.args[0]) return undefined;
  const outer = pathOf(parsed, call.args[0], loops);
  const key = scalarOf(call.args[1]);
  if (outer === undefined || key === undefined) return undefined;
  return [...outer, typeof key.value === 'number' ? '*' : String(key.value)];
}
