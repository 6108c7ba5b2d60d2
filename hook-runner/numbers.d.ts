// Numbers that hook files do not calculate with as they are. Served after `hooks.d.ts` at GET …/hooks/types.

/**
 * A number that JavaScript would round: an integer beyond 2^53, or a decimal of more than about 16 digits. A `json` field may
 * hold one. `BigInt(value.rawJSON)` calculates with an integer; `value + 1` throws.
 */
interface ExactNumber {
  /** The number as text. */
  readonly rawJSON: string;
}

interface JSON {
  /** Makes such a number of its text, to be stored or sent. */
  rawJSON(text: string): ExactNumber;
  /** True for such a number. */
  isRawJSON(value: unknown): value is ExactNumber;
}
