// What a server has prepared for one connection. It keeps all of it until the connection ends, some 100 KiB for each statement
// about sixty columns, and callers can have many prepared: each set of fields that is updated is a statement.
import type driver from 'postgres';

/** Characters of all statements together. What is prepared of them takes the server some 30 times as much. */
const maxCharacters = 524_288;

/** The statements of a connection that it has had prepared. */
export class PreparedStatements {
  readonly #texts = new Set<string>();
  #characters = 0;

  /** Whether the connection should give way to a new one. */
  get isFull(): boolean {
    return this.#characters >= maxCharacters;
  }

  /** Has what is sent by this connection, or by a transaction on it, noted. */
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
