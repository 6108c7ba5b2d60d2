// The cache of values that are derived from definitions, and its bound.
import { expect, it } from 'vitest';
import { DerivedCache } from '../../../storage/connections/derived-cache.ts';

it('makes a value once, until all together have grown too large', () => {
  const memory = new DerivedCache<object, number>(10);
  const [one, other] = [{}, {}];
  let made = 0;
  const of = (key: object) => memory.of(key, () => ++made);
  expect([of(one), of(other), of(one)]).toEqual([1, 2, 1]);
  memory.grow(10);
  expect([of(one), of(other)]).toEqual([1, 2]);
  memory.grow(1);
  expect([of(one), of(other), of(one)]).toEqual([3, 4, 3]);
  memory.grow(10);
  expect(of(one)).toBe(3);
});
