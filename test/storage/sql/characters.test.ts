// Characters of texts, counted without a list of them.
import { describe, expect, it } from 'vitest';
import { countCharacters, hasCharacters } from '../../../storage/sql/characters.ts';

describe('the characters of a text', () => {
  it.each([
    '',
    'a',
    'é',
    '\u{1f600}',
    'a\u{1f600}b\u{10ffff}',
    '\ud83d',
    '\ude00\ud83d',
    'x\ud83d\ud83d\ude00\ude00',
  ])(
    'are as many as its code points: %j',
    (text) => {
      const count = [...text].length;
      expect(countCharacters(text)).toBe(count);
      for (let most = 0; most < 8; most++) expect(hasCharacters(text, most)).toBe(count >= most);
    },
  );
});
