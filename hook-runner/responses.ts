// Sends the answer to a route: its head and first piece at once, the rest as far as the client takes it.
import { carried } from './bytes.ts';
import type { Bytes, Headers as HeaderList } from './calls.ts';
import type { Channel } from './channel.ts';
import type { Invocation } from './invocations.ts';
import { bare, later, notLater, PlainPromise, stringifyJson } from './untampered.ts';

/** Most bytes of one piece. */
const pieceBytes = 64 * 1024;
/** A body whose end is known after so many turns of the microtask queue goes out whole. */
const patience = 12;
/** A head waits no longer for the first piece of its body: whoever follows events hears that it is followed. */
const headMilliseconds = 50;

/** More than the API sends on, and few enough for it to read them and say so. */
const mostHeaders = 1_000;
const longestHeaders = 131_072;

const jsonHeader = '["content-type","application/json"]';

interface Piece {
  readonly bytes: Uint8Array | null;
}

/** Sends bodies within what the API has credited. */
export class Responses {
  readonly #channel: Pick<Channel, 'send' | 'sendText'>;
  readonly #windowBytes: number;
  readonly #windows = new Map<number, Window>();

  /** `windowBytes`: what may be under way of a body before the first credit. */
  constructor(channel: Pick<Channel, 'send' | 'sendText'>, windowBytes: number) {
    this.#channel = channel;
    this.#windowBytes = windowBytes;
  }

  /** More of a body may be sent. */
  credit(id: number, bytes: number): void {
    this.#windows.get(id)?.add(bytes);
  }

  /** Sends JSON, or nothing, as a whole answer. */
  sendText({ id }: Invocation, status: number, text: string | null): void {
    const headers = text === null ? '' : jsonHeader;
    const body = text === null ? 'null' : `{"text":${stringifyJson(text) ?? '""'}}`;
    this.#channel.sendText(
      `{"type":"response","id":${id},"status":${status},"headers":[${headers}],"body":${body},"end":true}`,
    );
  }

  /** Sends a `Response`. Resolves when its body is sent, or nobody waits for it any more; the body is told then. */
  async send(invocation: Invocation, response: Response, isHead: boolean): Promise<void> {
    const { id } = invocation;
    const { status } = response;
    if (response.body === null || isHead || invocation.ended) {
      await response.body?.cancel();
      if (invocation.ended) return;
      const headers = headersOf(response.headers);
      return this.#channel.send({ type: 'response', id, status, headers, body: null, end: true });
    }
    const reader = response.body.getReader();
    const window = new Window(this.#windowBytes);
    this.#windows.set(id, window);
    const stop = (reason: unknown) => {
      window.close();
      reader.cancel(reason).catch(() => undefined); // the author's source may fail to stop; nobody reads it any more
    };
    invocation.onCancel(stop);
    try {
      const headers = headersOf(response.headers);
      let next = ahead(reader);
      const first = await knownSoon(next) ?? await knownInTime(next);
      if (first !== null && first.bytes !== null) next = ahead(reader);
      const whole = first !== null &&
        (first.bytes === null || (first.bytes.length <= pieceBytes && isEnd(await knownSoon(next))));
      if (invocation.ended) return;
      const body = whole && first.bytes !== null ? bodyText(first.bytes) : null;
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
    invocation: Invocation,
    window: Window,
    source: { first: Piece | null; next: Promise<Piece>; reader: ReadableStreamDefaultReader<Uint8Array> },
  ): Promise<void> {
    let following = source.next;
    let piece = source.first;
    if (piece === null) {
      piece = await following;
      if (piece.bytes !== null) following = ahead(source.reader);
    }
    while (piece.bytes !== null) {
      for (let at = 0; at < piece.bytes.length; at += pieceBytes) {
        const part = piece.bytes.subarray(at, at + pieceBytes);
        await window.take(part.length);
        if (invocation.ended) return;
        this.#channel.send({ type: 'chunk', id: invocation.id, body: bodyText(part) });
      }
      piece = await following;
      if (piece.bytes !== null) following = ahead(source.reader);
    }
    this.#channel.send({ type: 'end', id: invocation.id });
  }
}

/** How much of one body may still be sent. */
class Window {
  #bytes: number;
  #closed = false;
  #waiting: (() => void) | null = null;

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
  async take(bytes: number): Promise<void> {
    while (this.#bytes < bytes && !this.#closed) {
      await new PlainPromise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    this.#bytes -= bytes;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.();
  }
}

/** The next piece that holds anything; null at the end. Throws what the author's stream throws, or for other than bytes. */
async function nextPiece(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Piece> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bare({ bytes: null });
    if (!(value instanceof Uint8Array)) {
      throw new TypeError('the body of a Response must be of bytes (Uint8Array)');
    }
    if (value.length > 0) return bare({ bytes: value });
  }
}

/** The piece after, asked for before it is needed. */
function ahead(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Piece> {
  const piece = nextPiece(reader);
  piece.catch(() => undefined); // whoever awaits it hears of it; until then it is not unhandled
  return piece;
}

/** A piece that is known within a few turns, else null; most bodies are texts, whose pieces and end are. */
async function knownSoon(piece: Promise<Piece>): Promise<Piece | null> {
  let known: Piece | null = null;
  piece.then((value) => {
    known = value;
  }, () => undefined); // whoever awaits `piece` hears of it
  for (let turn = 0; turn < patience && known === null; turn++) await null;
  return known;
}

/** A piece that a head waits for, else null. */
function knownInTime(piece: Promise<Piece>): Promise<Piece | null> {
  return new PlainPromise((resolve, reject) => {
    const late = later(() => resolve(null), headMilliseconds);
    piece.then((value) => {
      notLater(late);
      resolve(value);
    }, reject);
  });
}

function isEnd(piece: Piece | null): boolean {
  return piece !== null && piece.bytes === null;
}

function bodyText(bytes: Uint8Array): Bytes {
  return bare(carried(bytes));
}

function headersOf(headers: Headers): HeaderList {
  const list: (readonly [string, string])[] = [];
  let units = 0;
  headers.forEach((value, name) => {
    list[list.length] = bare([name, value] as const);
    units += name.length + value.length;
  });
  if (list.length > mostHeaders || units > longestHeaders) {
    throw new RangeError('the Response has too many headers, or too long ones');
  }
  return bare(list);
}
