// The statements that a server has prepared for one connection. It keeps them until the connection ends, some 100 KiB
// for each statement about sixty columns. Callers can cause many: each set of fields that is updated is a statement.
import type driver from 'postgres';

/** The limit of all texts together. The prepared statements take the server some 30 times as much. */
const maxCharacters = 524_288;

/** The prepared statements of one connection. */
export class PreparedStatements {
  readonly #texts = new Set<string>();
  #characters = 0;

  /** True when the connection should be replaced by a new one. */
  get isFull(): boolean {
    return this.#characters >= maxCharacters;
  }

  /** Counts what is sent on this connection, or in a transaction on it. */
  watch<Sender extends driver.ISql>(sql: Sender): Sender {
    const send = sql.unsafe;
    sql.unsafe = (text, parameters, options) => {
      if (options?.prepare === true) this.#note(text);
      return send(text, parameters, options);
    };
    return sql;
  }

  #note(text: string): void {
    if (this.#texts.has(text)) return;
    this.#texts.add(text);
    this.#characters += text.length;
  }
}
