// Sends the response of a route: its headers with the first chunk, then the rest as the client reads it.
import { encodeBytes } from './bytes.ts';
import type { Bytes, Headers as HeaderList } from './calls.ts';
import type { ApiChannel } from './channel.ts';
import type { InvocationContext } from './invocations.ts';
import { OriginalPromise, startTimer, stopTimer, stringifyJson, withoutPrototype } from './untampered.ts';

/** The maximum size of one chunk frame's body. */
const chunkBytes = 64 * 1024;
/** A body whose end is known after so many turns of the microtask queue is sent in one frame. */
const maxMicrotasks = 12;
/** Headers wait no longer for the first chunk, so that clients of an event stream learn that it is open. */
const headTimeoutMs = 50;

/** Limits of the headers. They exceed what the API forwards, so that the API can report that there are too many. */
const maxHeaders = 1_000;
const maxHeadersLength = 131_072;

const jsonHeader = '["content-type","application/json"]';

/** A chunk of a body; null at its end. */
interface BodyChunk {
  readonly bytes: Uint8Array | null;
}

/** Sends responses. Each body stays within the bytes that the API has credited. */
export class ResponseSender {
  readonly #channel: Pick<ApiChannel, 'send' | 'sendText'>;
  readonly #windowBytes: number;
  readonly #windows = new Map<number, CreditWindow>();

  /** `windowBytes` is the initial credit of each body. */
  constructor(channel: Pick<ApiChannel, 'send' | 'sendText'>, windowBytes: number) {
    this.#channel = channel;
    this.#windowBytes = windowBytes;
  }

  /** Adds credit to a body. */
  credit(id: number, bytes: number): void {
    this.#windows.get(id)?.add(bytes);
  }

  /** Sends a complete response with a JSON body, or with none. */
  sendText({ id }: InvocationContext, status: number, text: string | null): void {
    const headers = text === null ? '' : jsonHeader;
    const body = text === null ? 'null' : `{"text":${stringifyJson(text) ?? '""'}}`;
    this.#channel.sendText(
      `{"type":"response","id":${id},"status":${status},"headers":[${headers}],"body":${body},"end":true}`,
    );
  }

  /** Sends a `Response`. Resolves when its body is sent, or cancelled because the API no longer waits. */
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
      reader.cancel(reason).catch(() => undefined); // the body is not read any more, so an error of the author's `cancel` has no effect
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

  /** Sends a body chunk by chunk. When `first` is null, the first chunk is `next`. */
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
    let chunk = source.first;
    if (chunk === null) {
      chunk = await following;
      if (chunk.bytes !== null) following = readAhead(source.reader);
    }
    while (chunk.bytes !== null) {
      for (let at = 0; at < chunk.bytes.length; at += chunkBytes) {
        const part = chunk.bytes.subarray(at, at + chunkBytes);
        await window.reserve(part.length);
        if (invocation.ended) return;
        this.#channel.send({ type: 'chunk', id: invocation.id, body: encodeBody(part) });
      }
      chunk = await following;
      if (chunk.bytes !== null) following = readAhead(source.reader);
    }
    this.#channel.send({ type: 'end', id: invocation.id });
  }
}

/** The number of bytes of one body that may still be sent. */
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

  /** Waits until `bytes` are credited, and uses them up. */
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

/** The next non-empty chunk. Throws what the author's stream throws, and `TypeError` for a chunk that is no bytes. */
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

/** Requests the next chunk before it is needed. */
function readAhead(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<BodyChunk> {
  const chunk = readChunk(reader);
  chunk.catch(() => undefined); // the rejection is handled where the chunk is awaited
  return chunk;
}

/** A chunk that is available within a few microtasks, else null. Chunk and end of a text are, and most bodies are texts. */
async function knownSoon(chunk: Promise<BodyChunk>): Promise<BodyChunk | null> {
  let known: BodyChunk | null = null;
  chunk.then((value) => {
    known = value;
  }, () => undefined); // the rejection is handled where `chunk` is awaited
  for (let turn = 0; turn < maxMicrotasks && known === null; turn++) await null;
  return known;
}

/** A chunk that is available before the headers must be sent, else null. */
function knownInTime(chunk: Promise<BodyChunk>): Promise<BodyChunk | null> {
  return new OriginalPromise((resolve, reject) => {
    const timer = startTimer(() => resolve(null), headTimeoutMs);
    chunk.then((value) => {
      stopTimer(timer);
      resolve(value);
    }, reject);
  });
}

function isEnd(chunk: BodyChunk | null): boolean {
  return chunk !== null && chunk.bytes === null;
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
