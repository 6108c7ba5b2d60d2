// A client of Server-Sent Events on a bare socket: it sees every byte, and can stop reading.
import { connect, type Socket } from 'node:net';

/** One event as a browser would dispatch it. */
export interface SeenEvent {
  id: string;
  event: string;
  data: unknown;
}

/** A stream as its reader sees it. */
export class EventClient {
  /** The whole answer so far. */
  text = '';
  readonly closed: Promise<void>;
  /** How the connection broke, if it did not just end. */
  failure: Error | undefined;
  readonly socket: Socket;
  #wake = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      this.text += chunk;
      this.#wake();
    });
    socket.on('error', (error) => this.failure = error);
    this.closed = new Promise((resolve) => socket.once('close', resolve)).then(() => this.#wake());
  }

  get status(): number {
    return Number(this.text.slice(9, 12));
  }

  /** Headers, without the body. */
  get head(): string {
    return this.text.split('\r\n\r\n', 1)[0] ?? '';
  }

  /** Everything after the headers. */
  get body(): string {
    return this.text.slice(this.head.length + 4);
  }

  /**
   * What a browser would dispatch
   * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
   */
  get events(): SeenEvent[] {
    return this.body.split('\n\n').slice(0, -1).flatMap((block) => {
      const field = (name: string) =>
        block.split('\n').find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field('data');
      return data === undefined
        ? []
        : [{ id: field('id') ?? '', event: field('event') ?? '', data: JSON.parse(data) }];
    });
  }

  /** The last `id`, as a browser would send it when it comes back. */
  get lastEventId(): string {
    return [...this.body.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
  }

  /** Waits until something holds of what came. Throws when the connection closes before it does. */
  async until(holds: (client: this) => boolean): Promise<void> {
    while (!holds(this)) {
      if (this.socket.closed) throw new Error(`closed; came: ${this.text.slice(-500)}`);
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Waits for so many events. */
  async count(events: number): Promise<SeenEvent[]> {
    await this.until((client) => client.events.length >= events);
    return this.events;
  }
}

/** What to ask for. */
export interface Ask {
  collection?: string;
  /** Instead of the collection, which is the whole path of a rig. */
  path?: string;
  filter?: string;
  token?: string;
  since?: string;
  address?: string;
  method?: 'GET' | 'HEAD';
}

/** Opens a stream and waits for its response. */
export async function openEvents(port: number, ask: Ask = {}): Promise<EventClient> {
  const { collection = 'orders', path = `/${collection}`, filter, token, since, address, method = 'GET' } =
    ask;
  const query = filter === undefined ? '' : `?filter=${encodeURIComponent(filter)}`;
  const lines = [
    `${method} ${path}${query} HTTP/1.1`,
    'Host: rig',
    'Connection: close',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(since === undefined ? [] : [`Last-Event-ID: ${since}`]),
    ...(address === undefined ? [] : [`X-Forwarded-For: ${address}`]),
  ];
  const client = new EventClient(connect(port, '127.0.0.1'));
  client.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await client.until(({ text }) => /\r\n\r\n(.|$)/s.test(text));
  if (client.status === 200 && method === 'GET') await client.until(({ body }) => body.includes('\n\n'));
  return client;
}
