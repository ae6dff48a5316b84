/**
 * Whether the decimal value of a JSON number literal is the decimal value of the shortest text of its double: whether
 * reading it and writing it again leaves the number what it was. `1.0`, `1e3` and `0.1` do, `9007199254740993` does not.
 * Linear in the literal's length, whatever its exponent.
 */
export function survivesDouble(literal: string): boolean {
  const double = Number(literal);
  if (!Number.isFinite(double)) return false;
  const given = decimalOf(literal);
  const kept = decimalOf(String(double));
  return given.digits === kept.digits && given.exponent === kept.exponent;
}

/** The value is 0.`digits` × 10^`exponent`; no zero stands at either end of `digits`; zero has no digits. */
interface Decimal {
  digits: string;
  exponent: number;
}

function decimalOf(literal: string): Decimal {
  const unsigned = literal.startsWith('-') ? literal.slice(1) : literal;
  const [mantissa = '', written = '0'] = unsigned.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  let first = 0;
  while (all[first] === '0') first += 1;
  let end = all.length;
  while (end > first && all[end - 1] === '0') end -= 1;
  if (first === end) return { digits: '', exponent: 0 };
  // Beyond 2^53 the sum is rounded, but a literal with such an exponent is infinite or zero as a double and told apart by that.
  return { digits: all.slice(first, end), exponent: whole.length - first + Number(written) };
}
