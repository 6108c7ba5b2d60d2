// Texts of statements, remembered by what makes them different, so that each is prepared once a connection.

/** A statement's text, and whether it is one of the few that are worth preparing. */
export interface Statement {
  text: string;
  prepare: boolean;
}

/** Texts of one sort that are prepared; a caller can make up any number of them, and a server holds each. */
const maxPrepared = 64;

/** The statements of one sort. */
export class Statements {
  readonly #texts = new Map<string, string>();
  readonly #onKept: (characters: number) => void;

  /** `onKept` hears how long a text is that is remembered. */
  constructor(onKept: (characters: number) => void) {
    this.#onKept = onKept;
  }

  /** The statement of a shape, written the first time that it is asked for. */
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
