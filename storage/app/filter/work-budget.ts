// A bound on the work of one decision in memory. PostgreSQL has a timeout; an event loop has none.
import { foldCase } from './operators/letter-case.ts';

/** As many as two bodies of the largest size have. */
const maxCharacters = 16_777_216;
/** Shorter texts cost no more than counting them. */
const freeCharacters = 1_024;

/** The characters that the comparisons of one decision may still read. */
export class WorkBudget {
  #left = maxCharacters;
  #last: { text: string; folded: string } | undefined;

  /** Counts a comparison of a value. Throws `RangeError` when the budget is spent. */
  spend(value: unknown): void {
    if (typeof value !== 'string' || value.length <= freeCharacters) return;
    this.#left -= value.length;
    if (this.#left < 0) throw new RangeError(`more than ${maxCharacters} characters to compare`);
  }

  /** `foldCase`, done once for a text in which many patterns are searched. */
  folded(text: string): string {
    if (text.length <= freeCharacters) return foldCase(text);
    if (this.#last?.text !== text) this.#last = { text, folded: foldCase(text) };
    return this.#last.folded;
  }
}

/** The result of the work; undefined when it exceeds the budget. */
export function withinBudget<Result>(work: (budget: WorkBudget) => Result): Result | undefined {
  try {
    return work(new WorkBudget());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}
