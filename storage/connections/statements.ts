// Texts of statements, cached by what distinguishes them, so that each is prepared once on each connection.

/** A statement's text, and whether it is one of the few that are worth preparing. */
export interface Statement {
  text: string;
  prepare: boolean;
}

/** The number of prepared texts of one sort. Callers can cause any number of them, and the server holds each. */
const maxPrepared = 64;

/** The statements of one sort. */
export class Statements {
  readonly #texts = new Map<string, string>();
  readonly #onKept: (characters: number) => void;

  /** `onKept` gets the length of each text that is cached. */
  constructor(onKept: (characters: number) => void) {
    this.#onKept = onKept;
  }

  /** The statement of a shape, written when it is first needed. */
  of(shape: string, write: () => string): Statement {
    const known = this.#texts.get(shape);
    if (known !== undefined) return { text: known, prepare: true };
    const text = write();
    const prepare = this.#texts.size < maxPrepared;
    if (prepare) {
      this.#texts.set(shape, text);
      this.#onKept(shape.length + text.length);
    }
    return { text, prepare };
  }
}
