import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type CelInput,
  celList,
  celMap,
  celUint,
  isCelError,
  isCelList,
  isCelMap,
  isCelUint,
  parse,
  plan,
} from '@bufbuild/cel';
import { expect, test } from 'vitest';
import { engine } from '../../../core/condition-engine.ts';

const shared = process.env.COUNTERSIGN_SHARED_DATA ?? resolve(import.meta.dirname, '../../../../shared/data');
const file = join(shared, 'cel-conformance.json');
const absent = !existsSync(file);

interface Value {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: as the suite writes its values
  value?: any;
}

interface Case {
  file: string;
  section: string;
  name: string;
  expr: string;
  value?: Value;
  error?: boolean;
  bindings?: Record<string, Value>;
}

function inputOf({ type, value }: Value): CelInput {
  if (type === 'int') return BigInt(value);
  if (type === 'uint') return celUint(BigInt(value));
  if (type === 'double') return doubleOf(value);
  if (type === 'list') return celList(value.map(inputOf));
  if (type === 'map')
    return celMap(new Map(value.map(([key, item]: Value[]) => [inputOf(key as Value), inputOf(item as Value)])));
  return type === 'null' ? null : value;
}

const doubleOf = (text: string): number => Number(text.replace(/^([+-]?)inf(inity)?$/i, '$1Infinity'));

function isValue(result: unknown, { type, value }: Value): boolean {
  if (type === 'int') return typeof result === 'bigint' && result === BigInt(value);
  if (type === 'uint') return isCelUint(result) && result.value === BigInt(value);
  if (type === 'double') return typeof result === 'number' && Object.is(result + 0, doubleOf(value) + 0);
  if (type === 'null') return result === null;
  if (type === 'list')
    return (
      isCelList(result) &&
      result.size === value.length &&
      [...result].every((item, index) => isValue(item, value[index]))
    );
  if (type === 'map')
    return (
      isCelMap(result) &&
      result.size === value.length &&
      [...result].every(([key, item]) =>
        value.some(([k, v]: Value[]) => isValue(key, k as Value) && isValue(item, v as Value)),
      )
    );
  return result === value;
}

function passes({ expr, bindings = {}, value }: Case): boolean {
  let result: unknown;
  try {
    result = plan(
      engine,
      parse(expr),
    )(Object.fromEntries(Object.entries(bindings).map(([name, given]) => [name, inputOf(given)])));
  } catch {
    return value === undefined;
  }
  return value === undefined ? isCelError(result) : isValue(result, value);
}

/** The kinds of difference, as docs/conditions.md lists them. */
function kindOf({ expr, file: suite, section, name }: Case): string {
  if (expr.includes('`')) return 'quoted fields';
  if (suite === 'macros2') return 'two-variable macros';
  if (section === 'timestamp_range' && name.startsWith('from_int')) return 'timestamps out of range from a number';
  if (expr.includes('{0: 1, 0u: 2}')) return 'a map with keys 0 and 0u';
  return `${suite}/${section}/${name}: ${expr}`;
}

test.skipIf(absent)(`the public CEL suite${absent ? ` (not run: there is no ${file})` : ''}`, () => {
  const { cases }: { cases: Case[] } = JSON.parse(readFileSync(file, 'utf8'));
  const failed = cases.filter((given) => !passes(given));
  const kinds = Object.fromEntries(
    Object.entries(Object.groupBy(failed, kindOf)).map(([kind, list = []]) => [kind, list.length]),
  );
  expect(cases.length).toBe(1010);
  expect(kinds).toEqual({
    'two-variable macros': 38,
    'quoted fields': 6,
    'timestamps out of range from a number': 2,
    'a map with keys 0 and 0u': 1,
  });
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/conditions.md'), 'utf8');
  for (const kind of Object.keys(kinds)) expect(page.toLowerCase()).toContain(kind);
});
