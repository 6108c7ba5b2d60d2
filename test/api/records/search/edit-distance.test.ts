// Typing errors between words.
import { describe, expect, it } from 'vitest';
import { isWithinEdits, maxEdits } from '../../../../api/records/search/edit-distance.ts';

describe('the number of errors', () => {
  it.each([
    ['coffee', 'coffee', 0],
    ['coffee', 'cofee', 1],
    ['cofee', 'coffee', 1],
    ['coffee', 'covfee', 1],
    ['coffee', 'cofefe', 1],
    ['receive', 'recieve', 1],
    ['coffee', 'tea', 5],
    ['', 'ab', 2],
    ['🙂🙂', '🙂', 1],
    ['abcd', 'badc', 2],
  ])('from %s to %s is %i', (one, other, edits) => {
    expect(isWithinEdits(one, other, edits)).toBe(true);
    if (edits > 0) expect(isWithinEdits(one, other, edits - 1)).toBe(false);
  });
});

it('longer words may have more of them', () => {
  expect(['tea', 'kiwi', 'coffees', 'contents', '🙂🙂🙂'].map(maxEdits)).toEqual([0, 1, 1, 2, 0]);
});
