// Numbers about numbers.

/** The middle of some values, and how far they spread. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** Median, least and greatest. Throws `RangeError` when there is no value. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted.length % 2 === 1 ? upper : sorted[middle - 1];
  const [min] = sorted;
  const max = sorted.at(-1);
  if (upper === undefined || lower === undefined || min === undefined || max === undefined) {
    throw new RangeError('no values');
  }
  return { median: (lower + upper) / 2, min, max };
}

/** The value below which a share (0 to 1) of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
