// What many patterns in one long text cost in memory: the event loop waits for all of them.
import { expect, it } from 'vitest';
import { matches } from '../../../storage/filter/pattern.ts';

it('a text is made ready once for all patterns, whatever its letters are', () => {
  const text = 'ς'.repeat(1_000_000);
  const started = performance.now();
  for (let pattern = 0; pattern < 128; pattern++) expect(matches(text, `${pattern}Σ`)).toBe(false);
  expect(performance.now() - started).toBeLessThan(1_500);
  expect(matches(text, 'Σσς')).toBe(true);
});
