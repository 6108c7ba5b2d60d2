// Characters of texts, which are code points: their number, and those that PostgreSQL cannot store.

/** The number of characters of a text, counted without making a list of them. */
export function countCharacters(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) {
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) pairs++;
  }
  return text.length - pairs;
}

/** True when a text has at least `count` characters. They are counted only if its length does not decide. */
export function hasCharacters(text: string, count: number): boolean {
  if (text.length < count) return false;
  // A character has two UTF-16 units at most.
  return text.length >= count * 2 || countCharacters(text) >= count;
}

/**
 * The reason why PostgreSQL cannot store a text: it refuses NUL, and a lone surrogate would become U+FFFD; else
 * undefined.
 */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain a NUL character';
  return text.isWellFormed() ? undefined : 'must not contain a lone surrogate';
}
