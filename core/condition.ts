import { type CelInput, type CelValue, celList, isCelError, parse, plan } from '@bufbuild/cel';
import { engine, factMap, type Work, within, workPerRequest } from './condition-engine.ts';
import { type Reading, readExpression } from './condition-names.ts';
import { CountersignError } from './errors.ts';
import type { JsonValue } from './json.ts';

/** What a condition made of the facts: true, false, or not to be read — then the caller pauses, and never allows. */
type Truth = { value: boolean } | { unreadable: string };

/** A condition, parsed and checked once. */
export interface Condition {
  source: string;
  /** Never throws; bounded in time and memory by the work that the facts allow. */
  evaluate(facts: Facts): Truth;
}

/** Facts in the form that the engine takes, made once per request and shared by all rules, which share the work too. */
export interface Facts {
  bindings: Record<string, CelInput>;
  work: Work;
}

export const facts = (bindings: Facts['bindings']): Facts => ({ bindings, work: { left: workPerRequest } });

/**
 * Parses and checks a condition against the names that there are. Throws `POLICY_INVALID` for what does not parse, a name or
 * function that does not exist, what can be no yes or no, and a regular expression that is not a constant or not a valid one.
 */
export function compileCondition(source: string, windows: ReadonlySet<string> = new Set()): Condition {
  const parsed = parsedOrRefused(source);
  const reading = readOrRefused(source, () => readExpression(parsed.expr, { functions: engine.funcs, windows }));
  for (const pattern of reading.patterns) requireValidPattern(pattern, source);
  const evaluate = plan(engine, parsed);
  if (!reading.namesFacts)
    requireYesOrNo(
      truthOf(() => evaluate({}), { left: workPerRequest }),
      source,
    );
  return { source, evaluate: ({ bindings, work }) => truthOf(() => evaluate(bindings), work) };
}

const refuse = (source: string, problem: string): never => {
  throw new CountersignError('POLICY_INVALID', `the condition ${JSON.stringify(source)} ${problem}`);
};

function parsedOrRefused(source: string): ReturnType<typeof parse> {
  try {
    return parse(source);
  } catch (error) {
    return refuse(source, `is no CEL: ${messageOf(error)}`);
  }
}

/** What is nested too deep to be walked is refused like what is nested too deep to be parsed. */
function readOrRefused(source: string, read: () => Reading): Reading {
  try {
    return read();
  } catch (error) {
    if (error instanceof CountersignError) throw error;
    return refuse(source, `cannot be read: ${messageOf(error)}`);
  }
}

function requireValidPattern(pattern: string, source: string): void {
  const matched = plan(engine, parse('"".matches(pattern)'))({ pattern });
  if (isCelError(matched))
    refuse(source, `holds ${JSON.stringify(pattern)}, which is no RE2 expression: ${matched.message}`);
}

function requireYesOrNo(truth: Truth, source: string): void {
  if ('unreadable' in truth) refuse(source, `names no fact and comes to no yes or no: ${truth.unreadable}`);
}

function truthOf(evaluate: () => unknown, work: Work): Truth {
  try {
    const result = within(work, evaluate);
    if (work.left < 0) return { unreadable: 'the request is too large for the conditions of its policy' };
    if (typeof result === 'boolean') return { value: result };
    return {
      unreadable: isCelError(result) ? messageOf(result) : `the condition is no yes or no but ${kindOf(result)}`,
    };
  } catch (error) {
    return { unreadable: messageOf(error) };
  }
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'bigint' ? 'a number' : `a ${typeof value}`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 300);

/** A JSON value as CEL sees it: numbers are doubles, objects are maps (which have no prototype to shadow or reach). Nesting is bounded where bodies are read. */
export function celValue(value: JsonValue): CelValue {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return celList(value.map(celValue));
  return factMap(new Map(Object.entries(value).map(([key, item]) => [key, celValue(item)] as const)));
}
