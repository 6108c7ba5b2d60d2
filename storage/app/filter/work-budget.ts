// How much work one decision in memory may be: PostgreSQL has a timeout, an event loop has none.
import { foldCase } from './operators/letter-case.ts';

/** Characters of two bodies of the largest size. */
const characters = 16_777_216;
/** Shorter texts cost no more than finding out. */
const free = 1_024;

/** What is left of the characters that comparisons may look at. */
export class Patience {
  #left = characters;
  #last: { text: string; folded: string } | undefined;

  /** Pays for a comparison of a value. Throws `RangeError` when too much has been looked at. */
  pay(value: unknown): void {
    if (typeof value !== 'string' || value.length <= free) return;
    this.#left -= value.length;
    if (this.#left < 0) throw new RangeError(`more than ${characters} characters to compare`);
  }

  /** `foldCase`, done once for a text in which many patterns are looked for. */
  folded(text: string): string {
    if (text.length <= free) return foldCase(text);
    if (this.#last?.text !== text) this.#last = { text, folded: foldCase(text) };
    return this.#last.folded;
  }
}

/** What the work answers; undefined when that takes more than one decision may look at. */
export function patiently<Result>(work: (patience: Patience) => Result): Result | undefined {
  try {
    return work(new Patience());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}
