// The parts of a form, as they arrive: at any time, memory has one chunk of the body and a few bytes more.
import { fail } from '../../errors.ts';
import { type PartHeaders, readPartHeaders } from './part-headers.ts';

/** A part of a form. */
export interface FormPart extends PartHeaders {
  /** The content; can be read once. It is skipped when the next part is asked for before. */
  bytes: AsyncIterable<Buffer>;
}

/** The most parts that a form may have. */
export const maxParts = 1_000;
const maxHeaderBytes = 8_192;
const lineEnd = Buffer.from('\r\n');
const headersEnd = Buffer.from('\r\n\r\n');

/**
 * Reads the parts of a form. Throws `422 deserialization` for what is no form or ends too early, `413 payload_too_large` for one
 * of more than 1,000 parts, and what the source throws.
 */
export async function* readParts(
  source: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<FormPart> {
  const window = new Window(source);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  try {
    for await (const chunk of window.until(delimiter)) {
      if (chunk.length > 0) fail('deserialization', 'the form must begin with its boundary');
    }
    for (let count = 0; !await window.isAtEnd(); count++) {
      if (count === maxParts) fail('payload_too_large', `a form may have at most ${maxParts} parts`);
      const headers = readPartHeaders(await window.headers());
      const bytes = window.until(delimiter);
      yield { ...headers, bytes };
      for await (const _ of bytes);
    }
  } finally {
    await window.close();
  }
}

/** The part of the body that has arrived and is not read yet. */
class Window {
  readonly #source: AsyncIterator<Uint8Array>;
  /** As if a line ended before the body, so that all boundaries are alike. */
  #bytes: Buffer = lineEnd;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** What comes before a delimiter, which is then passed. */
  async *until(delimiter: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#bytes.indexOf(delimiter);
      const end = at === -1 ? this.#bytes.length - delimiter.length + 1 : at;
      if (end > 0) yield this.#take(end);
      if (at !== -1) {
        this.#take(delimiter.length);
        return;
      }
      await this.#fill();
    }
  }

  /** After a delimiter: true at the end of the form, false where a part begins. */
  async isAtEnd(): Promise<boolean> {
    while (this.#bytes.length < 2) await this.#fill();
    if (this.#bytes.subarray(0, 2).toString('latin1') === '--') return true;
    if (!this.#bytes.subarray(0, 2).equals(lineEnd)) {
      fail('deserialization', 'a boundary of the form must be followed by a line end');
    }
    return false;
  }

  /** The headers of the part that begins here, after a line end. */
  async headers(): Promise<Buffer> {
    for (;;) {
      const at = this.#bytes.indexOf(headersEnd);
      if (at > maxHeaderBytes || at === -1 && this.#bytes.length > maxHeaderBytes) {
        fail('deserialization', `the headers of a part of the form exceed ${maxHeaderBytes} bytes`);
      }
      if (at !== -1) {
        const headers = this.#take(at).subarray(lineEnd.length);
        this.#take(headersEnd.length);
        return headers;
      }
      await this.#fill();
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  async #fill(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done === true) fail('deserialization', 'the form ends before its last boundary');
    this.#bytes = this.#bytes.length === 0
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : Buffer.concat([this.#bytes, value]);
  }
}
