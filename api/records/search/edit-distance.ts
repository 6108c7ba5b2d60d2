// How many typing errors are between two words.

/**
 * True when at most `max` letters are missing, too many, wrong, or swapped with the next one: the optimal string alignment
 * distance.
 */
export function isWithinEdits(one: string, other: string, max: number): boolean {
  const [a, b] = [[...one], [...other]];
  if (Math.abs(a.length - b.length) > max) return false;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const plain = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + cost);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(isSwap ? Math.min(plain, at(before, j - 2) + 1) : plain);
    }
    [before, row] = [row, next];
  }
  return at(row, b.length) <= max;
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}

/** How many errors a word may have, by its length: short ones are like too many others. */
export function maxEdits(word: string): number {
  const { length } = [...word];
  if (length < 4) return 0;
  return length < 8 ? 1 : 2;
}
