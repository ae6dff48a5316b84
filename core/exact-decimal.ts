/** Digits before and after the point: a sum of a million such amounts still has fewer than the 38 digits that DynamoDB keeps. */
const digitsBefore = 15;
const digitsAfter = 15;
const one = 10n ** BigInt(digitsAfter);
const bound = 10n ** BigInt(digitsBefore) * one;

/** A decimal as it stands in a table or an entry: `499.9`, `-90`, `0`; never an exponent. */
export type DecimalText = string;

/**
 * A number that can be summed exactly, as its decimal text: not negative, below 10^15, with at most 15 digits after the point.
 * `undefined` for every other value.
 */
export function amountOf(value: unknown): DecimalText | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return undefined;
  const scaled = scaledOf(String(value));
  return scaled === undefined || scaled >= bound ? undefined : textOf(scaled);
}

/** The exact sum. Throws `TypeError` for what is no decimal of at most 15 digits after the point. */
export const sumOf = (...texts: readonly DecimalText[]): DecimalText =>
  textOf(texts.reduce((sum, text) => sum + exact(text), 0n));

export const minus = (text: DecimalText, other: DecimalText): DecimalText => textOf(exact(text) - exact(other));

export const isNegative = (text: DecimalText): boolean => exact(text) < 0n;

function exact(text: DecimalText): bigint {
  const scaled = scaledOf(text);
  if (scaled === undefined)
    throw new TypeError(`${text} is no decimal of at most ${digitsAfter} digits after the point`);
  return scaled;
}

/** The value times 10^15; also of `1e-7` and `1E+3`, as JavaScript and DynamoDB write them. */
function scaledOf(text: string): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  const digits = BigInt(whole + fraction);
  const shift = digitsAfter + Number(exponent) - fraction.length;
  const factor = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % factor !== 0n) return undefined;
  const scaled = shift < 0 ? digits / factor : digits * factor;
  return sign === '-' ? -scaled : scaled;
}

function textOf(scaled: bigint): DecimalText {
  const size = scaled < 0n ? -scaled : scaled;
  const fraction = String(size % one)
    .padStart(digitsAfter, '0')
    .replace(/0+$/, '');
  return `${scaled < 0n ? '-' : ''}${size / one}${fraction === '' ? '' : `.${fraction}`}`;
}
