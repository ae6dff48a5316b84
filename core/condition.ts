import { type CelInput, celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { type Reading, readExpression } from './condition-names.ts';
import { CountersignError } from './errors.ts';
import type { JsonValue } from './json.ts';

/** What a condition made of the facts: true, false, or not to be read — then the caller pauses, and never allows. */
export type Truth = { value: boolean } | { unreadable: string };

/** A condition, parsed and checked once. */
export interface Condition {
  source: string;
  /** Never throws; bounded in time and memory by what the condition does and how large the facts are. */
  evaluate(facts: Facts): Truth;
}

/** Facts in the form that the engine takes, made once per request and shared by all rules. */
export interface Facts {
  bindings: Record<string, CelInput>;
  /** How many values there are in the facts, and how many bytes they have. */
  size: Size;
}

interface Size {
  values: number;
  bytes: number;
}

/** Steps of a loop over all facts, each of which may look at all of them. Beyond it a condition is not evaluated. */
const mostWork = 20_000_000;

/** The engine as configured: the CEL standard library and its string functions. Regular expressions are RE2: linear in the text. */
const environment = celEnv({ funcs: [...strings] });

/**
 * Parses and checks a condition against the names that there are. Throws `POLICY_INVALID` for what does not parse, a name or
 * function that does not exist, and a regular expression that is not a constant or not a valid one.
 */
export function compileCondition(source: string, windows: ReadonlySet<string> = new Set()): Condition {
  const parsed = parsedOrRefused(source);
  const reading = readExpression(parsed.expr, { functions: environment.funcs, windows });
  for (const pattern of reading.patterns) requireValidPattern(pattern, source);
  const evaluate = plan(environment, parsed);
  return { source, evaluate: (facts) => truthOf(() => evaluate(facts.bindings), reading, facts.size) };
}

function parsedOrRefused(source: string): ReturnType<typeof parse> {
  try {
    return parse(source);
  } catch (error) {
    throw new CountersignError(
      'POLICY_INVALID',
      `the condition ${JSON.stringify(source)} is no CEL: ${messageOf(error)}`,
    );
  }
}

function requireValidPattern(pattern: string, source: string): void {
  const matched = plan(environment, parse('"".matches(pattern)'))({ pattern });
  if (isCelError(matched))
    throw new CountersignError(
      'POLICY_INVALID',
      `the condition ${JSON.stringify(source)} holds ${JSON.stringify(pattern)}, which is no RE2 expression: ${matched.message}`,
    );
}

function truthOf(evaluate: () => unknown, { loops }: Reading, { values, bytes }: Size): Truth {
  const work = loops === 0 ? 0 : values ** loops * (1 + bytes / 1024);
  if (work > mostWork)
    return { unreadable: `the request is too large for a condition with ${loops} loops inside each other` };
  try {
    const result = evaluate();
    if (typeof result === 'boolean') return { value: result };
    return { unreadable: isCelError(result) ? result.message : `the condition is no yes or no but ${kindOf(result)}` };
  } catch (error) {
    return { unreadable: messageOf(error) };
  }
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'bigint' ? 'a number' : `a ${typeof value}`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 300);

/** A JSON value as CEL sees it: numbers are doubles, objects are maps (which have no prototype to shadow or reach). */
export function celValue(value: JsonValue, size: Size = { values: 0, bytes: 0 }): CelInput {
  size.values += 1;
  if (value === null || typeof value === 'boolean' || typeof value === 'number') {
    size.bytes += 8;
    return value;
  }
  if (typeof value === 'string') {
    size.bytes += value.length;
    return value;
  }
  if (Array.isArray(value)) return value.map((item) => celValue(item, size));
  return new Map(
    Object.entries(value).map(([key, item]) => {
      size.bytes += key.length;
      return [key, celValue(item, size)] as const;
    }),
  );
}
