// A socket whose writes the test lets through.
import { Duplex } from 'node:stream';

/** Sends a chunk only when it is told to. */
export class Slow extends Duplex {
  #sent: (() => void)[] = [];

  override _read(): void {}

  override _write(_chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#sent.push(callback);
  }

  send(): void {
    this.#sent.shift()?.();
  }
}
