// A list that stays right: it is read again after each change of its collection.
import type { Watching, WatchOptions } from './watch.ts';

/** A list that stays right. */
export interface Live<R> {
  /** The records as of the last time they were read; another array after each change. */
  readonly items: readonly R[];
  /** Resolves when the list was read for the first time. Rejects when the server refuses. */
  readonly ready: Promise<void>;
  /** The error of the last attempt to read the list; undefined when it worked. */
  readonly error: unknown;
  /** Calls the listener after each change of the list. Returns what ends that. */
  subscribe(listener: (items: readonly R[]) => void): () => void;
  close(): void;
}

/** Where a list comes from. */
export interface LivePorts<R> {
  read(): Promise<R[]>;
  watch(onChange: () => void, options: WatchOptions): Watching;
}

/** A list is read again this long after a change: changes often come in groups. */
const restMs = 30;
const retryMs = 2_000;

/** Begins a list. An update may take a record out of a filter without an event for that filter, so all changes count. */
export function createLive<R extends object>({ read, watch }: LivePorts<R>): Live<R> {
  const list = new LiveList(read);
  const fail = (error: unknown) => list.fail(error);
  const watching = watch(() => list.soon(), { onError: fail });
  watching.ready.then(() => list.soon(), fail);
  list.onClose = () => watching.close();
  return list;
}

class LiveList<R> implements Live<R> {
  items: readonly R[] = [];
  error: unknown;
  onClose: () => void = () => undefined;
  readonly #read: () => Promise<R[]>;
  readonly #first = Promise.withResolvers<void>();
  readonly ready = this.#first.promise;
  readonly #listeners = new Set<(items: readonly R[]) => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;
  #isStale = false;
  #isOpen = true;

  constructor(read: () => Promise<R[]>) {
    this.#read = read;
    // Whoever does not wait for it has `error`.
    this.ready.catch(() => undefined);
  }

  subscribe(listener: (items: readonly R[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.onClose();
  }

  /** Reads the list once for all changes of a moment, and never twice at a time. */
  soon(delay = restMs): void {
    this.#isStale = true;
    if (this.#isReading || !this.#isOpen) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#refresh(), delay);
  }

  fail(error: unknown): void {
    this.error = error;
    this.#first.reject(error);
    this.#tell();
  }

  #tell(): void {
    if (this.#isOpen) this.#listeners.forEach((listener) => listener(this.items));
  }

  async #refresh(): Promise<void> {
    this.#isReading = true;
    this.#isStale = false;
    let delay = restMs;
    try {
      this.items = await this.#read();
      this.error = undefined;
      this.#first.resolve();
    } catch (error) {
      this.error = error;
      this.#isStale = true;
      delay = retryMs;
    }
    this.#isReading = false;
    this.#tell();
    if (this.#isStale) this.soon(delay);
  }
}
