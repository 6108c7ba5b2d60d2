// How much work one decision in memory may be: PostgreSQL has a timeout, an event loop has none.
import { foldCase } from './operators/letter-case.ts';

/** Characters of two bodies of the largest size. */
const maxCharacters = 16_777_216;
/** Shorter texts cost no more than finding out. */
const freeCharacters = 1_024;

/** What is left of the characters that comparisons may look at. */
export class WorkBudget {
  #left = maxCharacters;
  #last: { text: string; folded: string } | undefined;

  /** Pays for a comparison of a value. Throws `RangeError` when too much has been looked at. */
  spend(value: unknown): void {
    if (typeof value !== 'string' || value.length <= freeCharacters) return;
    this.#left -= value.length;
    if (this.#left < 0) throw new RangeError(`more than ${maxCharacters} characters to compare`);
  }

  /** `foldCase`, done once for a text in which many patterns are looked for. */
  folded(text: string): string {
    if (text.length <= freeCharacters) return foldCase(text);
    if (this.#last?.text !== text) this.#last = { text, folded: foldCase(text) };
    return this.#last.folded;
  }
}

/** What the work answers; undefined when that takes more than one decision may look at. */
export function withinBudget<Result>(work: (patience: WorkBudget) => Result): Result | undefined {
  try {
    return work(new WorkBudget());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}
