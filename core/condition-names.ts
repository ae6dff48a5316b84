import type { CelEnv, parse } from '@bufbuild/cel';
import { counted, presence } from './condition-engine.ts';
import { CountersignError } from './errors.ts';

type Expr = ReturnType<typeof parse>['expr'];

/** What a condition may name, besides what lies under `args` and `result`. */
export const vocabulary: Readonly<Record<string, readonly string[] | 'anything' | 'value'>> = {
  args: 'anything',
  result: 'anything',
  action: ['name'],
  run: ['id'],
  mission: ['id'],
  agent: ['name', 'confidence'],
  subject: ['id'],
  window: 'anything',
  phase: 'value',
  now: 'value',
  attempt: 'value',
};

/** Types and namespaces of the language itself. */
const languageNames = new Set([
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'bool',
  'list',
  'map',
  'type',
  'null_type',
  'google',
  'math',
  'strings',
]);

export interface Reading {
  /** Whether it looks at the request at all. */
  namesFacts: boolean;
  /** Constant patterns given to `matches`. */
  patterns: string[];
}

interface Known {
  functions: CelEnv['funcs'];
  windows: ReadonlySet<string>;
}

/** Walks a parsed condition: refuses names and functions that do not exist; has each turn of its loops counted, and `has` read strictly. Throws `POLICY_INVALID`. */
export function readExpression(expr: Expr, known: Known): Reading {
  const reading: Reading = { namesFacts: false, patterns: [] };
  walk(expr, { known, reading, bound: new Set() });
  return reading;
}

interface Walk {
  known: Known;
  reading: Reading;
  /** Variables of the loops around. */
  bound: ReadonlySet<string>;
}

const refuse = (detail: string): never => {
  throw new CountersignError('POLICY_INVALID', detail);
};

function walk(expr: Expr | undefined, at: Walk): void {
  const kind = expr?.exprKind;
  switch (kind?.case) {
    case undefined:
    case 'constExpr':
      return;
    case 'identExpr':
      requireName(kind.value.name, at);
      return;
    case 'selectExpr':
      if (readsWindow(kind.value, at)) return;
      requireMember(kind.value.operand, kind.value.field, at);
      walk(kind.value.operand, at);
      if (expr && kind.value.testOnly && kind.value.operand)
        expr.exprKind = presence(expr.id, kind.value.operand, kind.value.field);
      return;
    case 'callExpr': {
      const { function: name, target, args } = kind.value;
      if (!at.known.functions.find(name) && !operators.has(name))
        refuse(`there is no function ${name}(); see the CEL standard library and its string functions`);
      if (name === 'matches') at.reading.patterns.push(constantPattern(args.at(-1)));
      walk(target, at);
      for (const arg of args) walk(arg, at);
      return;
    }
    case 'listExpr':
      for (const element of kind.value.elements) walk(element, at);
      return;
    case 'structExpr':
      if (kind.value.messageName !== '') refuse(`there is no message type ${kind.value.messageName}`);
      for (const { keyKind, value } of kind.value.entries) {
        if (keyKind.case === 'mapKey') walk(keyKind.value, at);
        walk(value, at);
      }
      return;
    case 'comprehensionExpr': {
      const loop = kind.value;
      walk(loop.iterRange, at);
      walk(loop.accuInit, at);
      const names = [loop.iterVar, loop.iterVar2, loop.accuVar].filter((name) => name !== '');
      const inside = { ...at, bound: new Set([...at.bound, ...names]) };
      for (const part of [loop.loopCondition, loop.loopStep, loop.result]) walk(part, inside);
      const { loopCondition } = loop;
      if (loopCondition) loop.loopCondition = counted(loopCondition);
      return;
    }
  }
}

/** Written with signs or built into the evaluator, so not among the named functions. */
const operators = new Set([
  '_&&_',
  '_||_',
  '!_',
  '_?_:_',
  '_[_]',
  '_==_',
  '_!=_',
  '_<_',
  '_<=_',
  '_>_',
  '_>=_',
  '_+_',
  '_-_',
  '_*_',
  '_/_',
  '_%_',
  '-_',
  '@in',
  '@not_strictly_false',
  '_[?_]',
  '_?._',
  'cel.@block',
]);

function requireName(name: string, { bound, known, reading }: Walk): void {
  if (bound.has(name)) return;
  if (name === 'window') refuse('a window is read as window.<id>.sum or window.<id>.count and in no other way');
  if (Object.hasOwn(vocabulary, name)) {
    reading.namesFacts = true;
    return;
  }
  if (languageNames.has(name)) return;
  if (known.functions.find(name)) return;
  refuse(`there is no ${name}; a condition may name ${Object.keys(vocabulary).join(', ')}`);
}

function requireMember(operand: Expr | undefined, field: string, { bound }: Walk): void {
  if (operand?.exprKind.case === 'identExpr') {
    const { name } = operand.exprKind.value;
    if (bound.has(name) || !Object.hasOwn(vocabulary, name)) return;
    const members = vocabulary[name];
    if (members === 'value') refuse(`${name} has no members, so there is no ${name}.${field}`);
    if (Array.isArray(members) && !members.includes(field))
      refuse(`there is no ${name}.${field}; there is ${members.map((member) => `${name}.${member}`).join(', ')}`);
  }
}

/**
 * A sum or a count is the only look at a window: `has()`, `in` or `==` would make of one that cannot be read a plain no, and of
 * a pause an allow.
 */
function readsWindow({ operand, field }: { operand?: Expr; field: string }, { bound, known, reading }: Walk): boolean {
  if (operand?.exprKind.case !== 'selectExpr' || bound.has('window')) return false;
  const { operand: outer, field: id } = operand.exprKind.value;
  if (outer?.exprKind.case !== 'identExpr' || outer.exprKind.value.name !== 'window') return false;
  if (!known.windows.has(id))
    refuse(`there is no window ${id}; the policy declares ${[...known.windows].join(', ') || 'none'}`);
  if (field !== 'sum' && field !== 'count') refuse(`a window has sum and count, no ${field}`);
  reading.namesFacts = true;
  return true;
}

/** A pattern from the arguments would be the agent's program in the owner's rule. */
function constantPattern(expr: Expr | undefined): string {
  const kind = expr?.exprKind;
  if (kind?.case === 'constExpr' && kind.value.constantKind.case === 'stringValue')
    return kind.value.constantKind.value;
  return refuse('the pattern of matches() must be a constant text');
}
