import { describe, expect, test } from 'vitest';
import { amountOf, isNegative, minus, sumOf } from '../../core/exact-decimal.ts';
import { seededRandom } from './seeded-random.ts';

describe('an amount', () => {
  test.each([
    [0, '0'],
    [-0, '0'],
    [0.1, '0.1'],
    [500.01, '500.01'],
    [1e-7, '0.0000001'],
    [1e-15, '0.000000000000001'],
    [123e3, '123000'],
    [999_999_999_999_999, '999999999999999'],
  ])('%d is %s', (value, text) => {
    expect(amountOf(value)).toBe(text);
  });

  test.each([-1, -0.01, 1e15, 1e300, 1e-16, 1.5e-16, Number.NaN, Infinity, '5', '', null, undefined, true, [5], {}])(
    '%j is none',
    (value) => {
      expect(amountOf(value)).toBeUndefined();
    },
  );
});

test('sums are exact where doubles are not', () => {
  expect(0.1 + 0.2).not.toBe(0.3);
  expect(sumOf('0.1', '0.2')).toBe('0.3');
  expect(sumOf('999999999999999', '0.000000000000001')).toBe('999999999999999.000000000000001');
  expect(sumOf()).toBe('0');
  expect(sumOf('1E+3', '1.5e-3')).toBe('1000.0015');
  expect(minus('0.3', '0.1')).toBe('0.2');
  expect(minus('0.1', '0.3')).toBe('-0.2');
  expect([isNegative('-0.1'), isNegative('0'), isNegative('-0')]).toEqual([true, false, false]);
  expect(() => sumOf('five')).toThrow(TypeError);
});

test('what is added and taken again in another order leaves nothing', () => {
  const random = seededRandom(3);
  const amounts = Array.from(
    { length: 500 },
    () => amountOf(Number((random.next() * 1e6).toFixed(random.below(9)))) ?? '0',
  );
  let sum = sumOf(...amounts);
  for (const amount of amounts.toReversed()) sum = minus(sum, amount);
  expect(sum).toBe('0');
});
