import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../core/canonical-json.ts';
import { CountersignError } from '../../core/errors.ts';
import { parseStrict } from '../../core/strict-json.ts';
import { cpuMilliseconds } from './cpu-time.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

function refusalOf(text: string): string {
  try {
    parseStrict(text);
  } catch (error) {
    expect(error).toBeInstanceOf(CountersignError);
    expect((error as CountersignError).code).toBe('VALIDATION_FAILED');
    return (error as CountersignError).message;
  }
  throw new Error(`was not refused: ${text.slice(0, 100)}`);
}

describe('case 17: what would not arrive as it was sent is refused, with the place', () => {
  test.each([
    ['{"amount": 9007199254740993}', '/amount'],
    ['{"a": {"rate": 0.10000000000000000001}}', '/a/rate'],
    ['[1, 1e400]', '/1'],
    ['[1e-400]', '/0'],
    ['{"a/b": 1e999999999999}', '/a~1b'],
    ['[0.1e-999999999999999999999]', '/0'],
    ['{"a": 1, "b": 2, "a": 1}', '/a is given twice'],
    ['{"x": [{"a": 1, "\\u0061": 2}]}', '/x/0/a is given twice'],
    ['{"__proto__": {"status": "APPROVED"}}', '/__proto__'],
    ['{"a": {"\\u005f_proto__": 1}}', '/a/__proto__'],
    ['{"text": "\\ud800"}', '/text holds a lone surrogate'],
    ['{"text": "\udc00"}', '/text holds a lone surrogate'],
    ['{"a": {"\\ud83d": 1}}', 'name in /a holds a lone surrogate'],
    ['{"a": 1, // hidden\n"b": 2}', 'line 1, column 10'],
    ['{"a": 1,\n  /* x */ "b": 2}', 'line 2, column 3'],
    ['{"a": [1, 2,]}', 'column 13'],
    ['{"a": 1,}', 'column 9'],
    ['', 'not JSON'],
    [' \n ', 'not JSON'],
    ['\ufeff{}', 'column 1'],
    ['{"a": 1} {"b": 2}', 'column 10'],
    ['{"a": 01}', 'not JSON'],
    ['{"a": +1}', 'not JSON'],
    ['{"a": .5}', 'not JSON'],
    ['{"a": 1.}', 'not JSON'],
    ['{"a": NaN}', 'not JSON'],
    ['{"a": "\t"}', 'not JSON'],
    ['{"a": "\\x41"}', 'not JSON'],
    ["{'a': 1}", 'not JSON'],
    ['{"a" 1}', 'not JSON'],
    ['{"a": }', 'not JSON'],
    ['{"a": "open', 'not JSON'],
    ['[1 2]', 'not JSON'],
    ['[1\u00a0]', 'not JSON'],
    ['{"a": undefined}', 'not JSON'],
  ])('%s', (text, place) => {
    expect(refusalOf(text)).toContain(place);
  });

  test.each([
    ['arrays', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['objects', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`],
  ])('200 000 levels of %s, in milliseconds', (_kind, text) => {
    const spent = cpuMilliseconds(() => expect(refusalOf(text)).toContain('nested deeper than 32 levels'));
    expect(spent).toBeLessThan(100);
  });

  test('32 levels are the most', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(parseStrict(nested(32))).toEqual(JSON.parse(nested(32)));
    expect(refusalOf(nested(33))).toContain('nested deeper');
    expect(parseStrict(nested(33), { maxDepth: 33 })).toEqual(JSON.parse(nested(33)));
  });

  test('a number of 250 000 digits is refused in milliseconds', () => {
    const spent = cpuMilliseconds(() =>
      expect(refusalOf(`[0.${'0'.repeat(125_000)}1${'0'.repeat(125_000)}1]`)).toContain('/0'),
    );
    expect(spent).toBeLessThan(200);
  });

  test('no message holds a value', () => {
    for (const text of ['{"card": "4111 1111\ud800"}', '{"card": 41111111111111111111111}', '{"card": "4111 1111" x}'])
      expect(refusalOf(text)).not.toContain('4111');
  });
});

describe('case 18: numbers that a double keeps arrive, and every form agrees', () => {
  test.each(
    '1.0 1e3 -0 0.1 1E+2 100000000000000000000 0 0e999999999999 0.000 -1.50 9007199254740992 1e23 5e-324 1.7976931348623157e308 123456.789e-3'.split(
      ' ',
    ),
  )('%s', (literal) => {
    const value = parseStrict(`[${literal}]`);
    expect(value).toEqual([Number(literal)]);
    const canonical = canonicalJson(value);
    expect(canonicalJson(parseStrict(canonical))).toBe(canonical);
  });
});

test('case 16: empty, zero, false and null arrive verbatim', () => {
  expect(parseStrict('{"a":"","b":0,"c":false,"d":null,"e":[],"f":{}}')).toEqual({
    a: '',
    b: 0,
    c: false,
    d: null,
    e: [],
    f: {},
  });
});

describe('against JSON.parse, seeded', { timeout: 60_000 }, () => {
  test('what JSON.stringify writes is read as JSON.parse reads it', () => {
    const random = seededRandom(17);
    for (let round = 0; round < 3_000; round += 1) {
      const text = JSON.stringify(anyValue(random, 5), null, random.pick([0, 1, '\t']));
      expect(parseStrict(text)).toEqual(JSON.parse(text));
    }
  });

  test('of text with one character changed nothing is accepted that JSON.parse refuses, and it is read alike', () => {
    const random = seededRandom(18);
    let accepted = 0;
    for (let round = 0; round < 10_000; round += 1) {
      const text = JSON.stringify(anyValue(random, 3));
      const at = random.below(text.length + 1);
      const changed =
        text.slice(0, at) +
        random.pick([...'{}[],:"\\/*0159-+.eE tn\n\r\t\0\u2028\ufeff']) +
        text.slice(at + random.below(2));
      let read: unknown;
      try {
        read = parseStrict(changed);
      } catch (error) {
        expect(error).toBeInstanceOf(CountersignError);
        continue;
      }
      expect(read).toEqual(JSON.parse(changed));
      accepted += 1;
    }
    expect(accepted).toBeGreaterThan(500);
  });

  test('a literal is kept exactly when an independent big-number comparison says so', () => {
    const random = seededRandom(19);
    const digits = (most: number) => Array.from({ length: 1 + random.below(most) }, () => random.below(10)).join('');
    let refused = 0;
    for (let round = 0; round < 5_000; round += 1) {
      const whole = digits(20).replace(/^0+(?=\d)/, '');
      const literal = `${random.pick(['', '-'])}${whole}${random.pick(['', `.${digits(20)}`])}${random.pick(['', `e${random.below(60) - 30}`])}`;
      const kept = exactly(literal) === exactly(String(Number(literal)));
      if (kept) expect(parseStrict(literal)).toBe(Number(literal));
      else expect(() => parseStrict(literal)).toThrow('double');
      if (!kept) refused += 1;
    }
    expect(refused).toBeGreaterThan(500);
    expect(refused).toBeLessThan(4_500);
  });
});

/** The number times 10^400, as a whole number. */
function exactly(literal: string): bigint {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(400 - fraction.length + Number(exponent));
}

function anyValue(random: SeededRandom, depth: number): unknown {
  const kind = random.below(depth === 0 ? 5 : 7);
  switch (kind) {
    case 0:
      return null;
    case 1:
      return random.below(2) === 0;
    case 2:
      return random.below(2) === 0 ? random.below(1e9) - 5e8 : random.next() * 10 ** (random.below(40) - 20);
    case 3:
    case 4:
      return anyText(random);
    case 5:
      return Array.from({ length: random.below(4) }, () => anyValue(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(4) }, () => [anyText(random), anyValue(random, depth - 1)]),
      );
  }
}

const anyText = (random: SeededRandom): string =>
  Array.from({ length: random.below(6) }, () =>
    random.pick(['a', 'constructor', '"', '\\', '\n', '\0', 'é', '🙂', '\u2028', '/', '~', ' ', '\u202e']),
  ).join('');
