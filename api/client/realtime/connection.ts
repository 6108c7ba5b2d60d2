// One WebSocket for everything that a client watches. Where none gets through, Server-Sent Events take its place.
import { makeError } from '../errors.ts';
import { browser } from '../auth/storage.ts';
import type { ConnectionPorts, Watch } from './watch.ts';

/** A message of the server. */
interface ServerMessage {
  type: string;
  id?: string;
  event?: string;
  cursor?: string;
  code?: string;
  message?: string;
  record?: unknown;
  data?: unknown;
}

/** A connection that says nothing for so long after a ping is cut. */
const pingMs = 25_000;
const minDelayMs = 50;
const maxDelayMs = 10_000;

/** Attempts of one WebSocket after another that do not get through, before Server-Sent Events are tried. */
const maxSocketFailures = 2;

/** The connection of a client: open while anything is watched. */
export class Connection {
  readonly #ports: ConnectionPorts;
  readonly #watches = new Map<string, Watch>();
  #socket: WebSocket | undefined;
  #token: string | undefined;
  #failures = 0;
  #hasWorked = false;
  #delay = minDelayMs;
  #lastId = 0;
  #isOpening = false;
  /** Where streams take the place of the WebSocket: called when there is a watch without one. */
  #onAdd: (() => void) | undefined;

  constructor(ports: ConnectionPorts) {
    this.#ports = ports;
  }

  /** Begins to deliver changes to a watch, from its cursor on. */
  add(watch: Watch): void {
    const id = String(++this.#lastId);
    this.#watches.set(id, watch);
    watch.onEnd = () => {
      this.#watches.delete(id);
      if (this.#isReady()) this.#say({ type: 'unsubscribe', id });
      if (this.#watches.size === 0) this.#socket?.close();
    };
    this.#onAdd?.();
    if (this.#isReady()) this.#subscribe(id, watch);
    else void this.#open();
  }

  /** Goes on as whoever is signed in now. */
  async reauthorize(): Promise<void> {
    if (!this.#isReady()) return;
    const before = this.#token;
    this.#token = await this.#ports.credentials.token();
    if (this.#token === undefined) this.#socket?.close();
    else if (this.#token !== before && this.#isReady()) this.#say({ type: 'auth', token: this.#token });
  }

  #isReady(): boolean {
    return this.#socket?.readyState === 1;
  }

  #say(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  #subscribe(id: string, { collection, filter, cursor }: Watch): void {
    this.#say({ type: 'subscribe', id, collection, filter: filter || undefined, since: cursor });
  }

  async #open(): Promise<void> {
    if (this.#isOpening || this.#socket !== undefined) return;
    this.#isOpening = true;
    try {
      this.#token = await this.#ports.credentials.token();
      const isBlocked = !this.#hasWorked && this.#failures >= maxSocketFailures;
      if (!('WebSocket' in globalThis) || isBlocked) await this.#openStreams();
      else this.#openSocket();
    } catch {
      this.#failures++;
      this.#again();
    } finally {
      this.#isOpening = false;
    }
  }

  #openSocket(): void {
    const { transport, home } = this.#ports;
    const at = new URL(
      transport.url(`${home}/realtime`),
      browser.location?.href,
    );
    const socket = new WebSocket(at.href.replace(/^http/, 'ws'));
    this.#socket = socket;
    let isAlive = true;
    const pinging = setInterval(() => {
      if (!isAlive) return over({ code: 0 });
      isAlive = false;
      if (socket.readyState === 1) this.#say({ type: 'ping' });
    }, pingMs);
    const over = ({ code }: { code: number }) => {
      clearInterval(pinging);
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      socket.close();
      void this.#lost(code);
    };
    socket.onopen = () => {
      this.#hasWorked = true;
      if (this.#token !== undefined) this.#say({ type: 'auth', token: this.#token });
      for (const [id, watch] of this.#watches) this.#subscribe(id, watch);
    };
    socket.onmessage = ({ data }) => {
      isAlive = true;
      if (this.#socket === socket) this.#receive(JSON.parse(String(data)));
    };
    socket.onclose = over;
    // Without a listener, some runtimes end the program. `close` follows.
    socket.onerror = () => this.#failures++;
  }

  #receive({ type, id = '', event, cursor = '', code, message, record, data }: ServerMessage): void {
    const watch = this.#watches.get(id);
    if (type === 'error' && watch !== undefined) {
      this.#watches.delete(id);
      const isBusy = code === 'unavailable' || code === 'too_many_requests';
      if (isBusy) setTimeout(() => watch.isOpen && this.add(watch), maxDelayMs);
      else watch.fail(makeError({ code: code ?? 'internal', message: message ?? '' }));
    } else if (type === 'subscribed') {
      this.#delay = minDelayMs;
      watch?.begin(cursor);
    } else if (type === 'event' || type === 'reset') {
      watch?.deliver({ event: event ?? type, cursor, record, data });
    }
  }

  /** 4401: the token is over. */
  async #lost(code: number): Promise<void> {
    if (code === 4401 && this.#token !== undefined) {
      await this.#ports.credentials.renew(this.#token).catch(() => undefined);
    }
    this.#again();
  }

  #again(): void {
    if (this.#watches.size === 0) return;
    const delay = this.#delay * (0.5 + Math.random());
    this.#delay = Math.min(this.#delay * 2, maxDelayMs);
    setTimeout(() => void this.#open(), delay);
  }

  /** A stream for each watch, until the first of them ends. A WebSocket is tried again after that. */
  async #openStreams(): Promise<void> {
    this.#failures = 0;
    // Few pages need it, so it is loaded apart.
    const { readEvents } = await import('./event-stream.ts');
    const ending = new AbortController();
    const streams = [...this.#watches.values()].map((watch) =>
      readEvents(this.#ports, watch, {
        signal: AbortSignal.any([ending.signal, watch.ended]),
        onOpen: () => this.#delay = minDelayMs,
      })
    );
    const newer = new Promise<void>((resolve) => this.#onAdd = resolve);
    await Promise.race([...streams, newer]).finally(() => ending.abort());
    await Promise.allSettled(streams);
    this.#failures = maxSocketFailures;
    this.#again();
  }
}
