// Sends the answer to a route: its head and first piece at once, the rest as far as the client takes it.
import { encodeBytes } from './bytes.ts';
import type { Bytes, Headers as HeaderList } from './calls.ts';
import type { ApiChannel } from './channel.ts';
import type { InvocationContext } from './invocations.ts';
import { OriginalPromise, startTimer, stopTimer, stringifyJson, withoutPrototype } from './untampered.ts';

/** Most bytes of one piece. */
const chunkBytes = 64 * 1024;
/** A body whose end is known after so many turns of the microtask queue goes out whole. */
const maxMicrotasks = 12;
/** A head waits no longer for the first piece of its body: whoever follows events hears that it is followed. */
const headTimeoutMs = 50;

/** More than the API sends on, and few enough for it to read them and say so. */
const maxHeaders = 1_000;
const maxHeadersLength = 131_072;

const jsonHeader = '["content-type","application/json"]';

interface BodyChunk {
  readonly bytes: Uint8Array | null;
}

/** Sends bodies within what the API has credited. */
export class ResponseSender {
  readonly #channel: Pick<ApiChannel, 'send' | 'sendText'>;
  readonly #windowBytes: number;
  readonly #windows = new Map<number, CreditWindow>();

  /** `windowBytes`: what may be under way of a body before the first credit. */
  constructor(channel: Pick<ApiChannel, 'send' | 'sendText'>, windowBytes: number) {
    this.#channel = channel;
    this.#windowBytes = windowBytes;
  }

  /** More of a body may be sent. */
  credit(id: number, bytes: number): void {
    this.#windows.get(id)?.add(bytes);
  }

  /** Sends JSON, or nothing, as a whole answer. */
  sendText({ id }: InvocationContext, status: number, text: string | null): void {
    const headers = text === null ? '' : jsonHeader;
    const body = text === null ? 'null' : `{"text":${stringifyJson(text) ?? '""'}}`;
    this.#channel.sendText(
      `{"type":"response","id":${id},"status":${status},"headers":[${headers}],"body":${body},"end":true}`,
    );
  }

  /** Sends a `Response`. Resolves when its body is sent, or nobody waits for it any more; the body is told then. */
  async send(invocation: InvocationContext, response: Response, isHead: boolean): Promise<void> {
    const { id } = invocation;
    const { status } = response;
    if (response.body === null || isHead || invocation.ended) {
      await response.body?.cancel();
      if (invocation.ended) return;
      const headers = listHeaders(response.headers);
      return this.#channel.send({ type: 'response', id, status, headers, body: null, end: true });
    }
    const reader = response.body.getReader();
    const window = new CreditWindow(this.#windowBytes);
    this.#windows.set(id, window);
    const stop = (reason: unknown) => {
      window.close();
      reader.cancel(reason).catch(() => undefined); // the author's source may fail to stop; nobody reads it any more
    };
    invocation.onCancel(stop);
    try {
      const headers = listHeaders(response.headers);
      let next = readAhead(reader);
      const first = await knownSoon(next) ?? await knownInTime(next);
      if (first !== null && first.bytes !== null) next = readAhead(reader);
      const whole = first !== null &&
        (first.bytes === null || (first.bytes.length <= chunkBytes && isEnd(await knownSoon(next))));
      if (invocation.ended) return;
      const body = whole && first.bytes !== null ? encodeBody(first.bytes) : null;
      this.#channel.send({ type: 'response', id, status, headers, body, end: whole });
      if (!whole) await this.#stream(invocation, window, { first, next, reader });
    } catch (thrown) {
      stop(thrown);
      throw thrown;
    } finally {
      this.#windows.delete(id);
    }
  }

  /** `first` is null where the first piece is still to come: it is `next` then. */
  async #stream(
    invocation: InvocationContext,
    window: CreditWindow,
    source: {
      first: BodyChunk | null;
      next: Promise<BodyChunk>;
      reader: ReadableStreamDefaultReader<Uint8Array>;
    },
  ): Promise<void> {
    let following = source.next;
    let piece = source.first;
    if (piece === null) {
      piece = await following;
      if (piece.bytes !== null) following = readAhead(source.reader);
    }
    while (piece.bytes !== null) {
      for (let at = 0; at < piece.bytes.length; at += chunkBytes) {
        const part = piece.bytes.subarray(at, at + chunkBytes);
        await window.reserve(part.length);
        if (invocation.ended) return;
        this.#channel.send({ type: 'chunk', id: invocation.id, body: encodeBody(part) });
      }
      piece = await following;
      if (piece.bytes !== null) following = readAhead(source.reader);
    }
    this.#channel.send({ type: 'end', id: invocation.id });
  }
}

/** How much of one body may still be sent. */
class CreditWindow {
  #bytes: number;
  #closed = false;
  #onCredit: (() => void) | null = null;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > 0) this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Waits until `bytes` fit, and takes them. */
  async reserve(bytes: number): Promise<void> {
    while (this.#bytes < bytes && !this.#closed) {
      await new OriginalPromise<void>((resolve) => {
        this.#onCredit = resolve;
      });
    }
    this.#bytes -= bytes;
  }

  #wake(): void {
    const waiting = this.#onCredit;
    this.#onCredit = null;
    waiting?.();
  }
}

/** The next piece that holds anything; null at the end. Throws what the author's stream throws, or for other than bytes. */
async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<BodyChunk> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return withoutPrototype({ bytes: null });
    if (!(value instanceof Uint8Array)) {
      throw new TypeError('the body of a Response must be of bytes (Uint8Array)');
    }
    if (value.length > 0) return withoutPrototype({ bytes: value });
  }
}

/** The piece after, asked for before it is needed. */
function readAhead(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<BodyChunk> {
  const piece = readChunk(reader);
  piece.catch(() => undefined); // whoever awaits it hears of it; until then it is not unhandled
  return piece;
}

/** A piece that is known within a few turns, else null; most bodies are texts, whose pieces and end are. */
async function knownSoon(piece: Promise<BodyChunk>): Promise<BodyChunk | null> {
  let known: BodyChunk | null = null;
  piece.then((value) => {
    known = value;
  }, () => undefined); // whoever awaits `piece` hears of it
  for (let turn = 0; turn < maxMicrotasks && known === null; turn++) await null;
  return known;
}

/** A piece that a head waits for, else null. */
function knownInTime(piece: Promise<BodyChunk>): Promise<BodyChunk | null> {
  return new OriginalPromise((resolve, reject) => {
    const late = startTimer(() => resolve(null), headTimeoutMs);
    piece.then((value) => {
      stopTimer(late);
      resolve(value);
    }, reject);
  });
}

function isEnd(piece: BodyChunk | null): boolean {
  return piece !== null && piece.bytes === null;
}

function encodeBody(bytes: Uint8Array): Bytes {
  return withoutPrototype(encodeBytes(bytes));
}

function listHeaders(headers: Headers): HeaderList {
  const list: (readonly [string, string])[] = [];
  let units = 0;
  headers.forEach((value, name) => {
    list[list.length] = withoutPrototype([name, value] as const);
    units += name.length + value.length;
  });
  if (list.length > maxHeaders || units > maxHeadersLength) {
    throw new RangeError('the Response has too many headers, or too long ones');
  }
  return withoutPrototype(list);
}
