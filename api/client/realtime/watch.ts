// What a client watches: the changes of a collection, each once and in order.
import type { BulkheadError } from '../errors.ts';
import type { Credentials, Transport } from '../transport.ts';

/** How the connection reaches the server. */
export interface ConnectionPorts {
  transport: Transport;
  /** `/api/workspaces/:workspace/apps/:app` */
  home: string;
  credentials: Credentials;
}

/** A change of a record; `reset` says that changes were missed, so that lists must be read again. */
export type Change<R> =
  | { event: 'record_created' | 'record_updated' | 'record_deleted'; record: R; cursor: string }
  | { event: 'reset'; cursor: string }
  | { event: 'custom'; name: string; data: unknown; cursor: string };

/** How to watch. */
export interface WatchOptions {
  /** The `cursor` of the last change that you know of: those behind it come first. */
  since?: string | undefined;
  /** Called when the server refuses to go on, for example because a rule does not allow it any more. */
  onError?: ((error: BulkheadError) => void) | undefined;
}

/** A watch that is under way. */
export interface Watching {
  /** Resolves once no change is missed any more. Rejects when the server refuses. */
  readonly ready: Promise<void>;
  /** The position behind the last change. */
  readonly cursor: string | undefined;
  close(): void;
}

interface WatchParts extends WatchOptions {
  collection: string;
  filter: string;
  onChange(change: Change<never>): void;
}

const recordEvents = new Set(['record_created', 'record_updated', 'record_deleted']);

/** A watch, and where it has come to. */
export class Watch implements Watching {
  readonly collection: string;
  readonly filter: string;
  readonly ready: Promise<void>;
  cursor: string | undefined;
  /** Set by the connection. */
  onEnd: () => void = () => undefined;
  readonly #parts: WatchParts;
  readonly #ending = new AbortController();
  readonly #begun = Promise.withResolvers<void>();

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.collection = parts.collection;
    this.filter = parts.filter;
    this.cursor = parts.since;
    this.ready = this.#begun.promise;
    // Whoever does not wait for it has `onError`.
    this.ready.catch(() => undefined);
  }

  get isOpen(): boolean {
    return !this.#ending.signal.aborted;
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Called when the server has begun to send changes. */
  begin(cursor: string): void {
    // One that goes on from somewhere gets the changes since then first.
    this.cursor ??= cursor;
    this.#begun.resolve();
  }

  /** Called for each change. */
  deliver(
    { event, cursor, record, data }: { event: string; cursor: string; record?: unknown; data?: unknown },
  ): void {
    if (!this.isOpen) return;
    this.cursor = cursor;
    const { onChange } = this.#parts;
    if (recordEvents.has(event)) onChange({ event, record, cursor } as Change<never>);
    else if (event === 'reset') onChange({ event, cursor });
    else onChange({ event: 'custom', name: event, data, cursor });
  }

  /** Called when the server refuses to go on. */
  fail(error: BulkheadError): void {
    this.#begun.reject(error);
    this.#parts.onError?.(error);
    this.close();
  }

  close(): void {
    if (!this.isOpen) return;
    this.#ending.abort();
    this.onEnd();
  }
}
