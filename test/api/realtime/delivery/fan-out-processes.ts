// The two processes of the fan-out bench (test/bench/fan-out.ts): a server that publishes, and clients that check.
import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { InProcessBroker } from '../../../../api/realtime/broker.ts';
import { Hub } from '../../../../api/realtime/hub.ts';
import { serveEvents } from '../../../../api/realtime/delivery/sse.ts';

/** How events follow one another: each alone, one a turn whatever happens, ten a turn, or so many a second. */
export type Pace = 'alone' | 'turn' | 'ten' | number;
/** A hub, or a server that does nothing but write. */
export type Mode = 'hub' | 'raw';
/** What a child is told to do. */
export type Order =
  | { do: 'serve'; mode: Mode }
  | { do: 'publish'; events: number; pace: Pace }
  | { do: 'memory' }
  | { do: 'connect'; port: number; streams: number; stalled: number }
  | { do: 'receive'; events: number };
/** What a child answers; each order has its own members. */
export type ApiResponse = Readonly<Record<string, number>>;

const topic = { workspace: 'acme', app: 'shop', collection: 'orders' };
const text = 'A record of the usual size: some text, a few numbers, a name and a date. '.repeat(2);
/** Microseconds of a clock that all processes share. */
const clock = () => Number(process.hrtime.bigint() / 1_000n);
const digits = 16;
const padded = (value: number) => String(value).padStart(digits, '0');
const recordOf = (n: number) => ({
  id: '019a0000-0000-7000-8000-000000000000',
  n: padded(n),
  t: padded(clock()),
  text,
});
/** Every frame has the same length, so a byte's place on a stream says what it must be. */
const frameOf = (n: number) =>
  Buffer.from(`id: ${'x'.repeat(22)}\nevent: record_created\ndata: ${JSON.stringify(recordOf(n))}\n\n`);
/** Bytes of one event. */
export const frameLength = frameOf(0).length;
const nAt = frameOf(0).indexOf('"n":"') + 5;
const tAt = frameOf(0).indexOf('"t":"') + 5;

/** The server: a hub, or the least that a server could do. */
function serve(mode: Mode): { listener: RequestListener; publish: (n: number) => void } {
  if (mode === 'raw') {
    const sockets: Socket[] = [];
    return {
      listener: (_request, response) => {
        response.removeHeader('Transfer-Encoding');
        response.writeHead(200, { 'Content-Type': 'text/event-stream', Connection: 'close' });
        response.write(': connected\n\n');
        if (response.socket !== null) sockets.push(response.socket);
      },
      publish: (n) => {
        const frame = frameOf(n);
        setImmediate(() => sockets.forEach((socket) => socket.write(frame)));
      },
    };
  }
  const fatal = (error: unknown) => {
    throw error;
  };
  const hub = new Hub({
    broker: new InProcessBroker(fatal),
    gate: {
      authorize: () => ({ key: 'everything', incarnation: '1', passes: () => true }),
      facts: () => Promise.resolve(undefined),
      tokenState: () => 'good',
      onDefinitionChange: () => () => undefined,
    },
    report: (_task, error) => fatal(error),
    now: Date.now,
    cursorKey: randomBytes(16),
    // A ping would shift the frames that the clients count by their place.
    bounds: { streams: { perPrincipal: 10_000, perAddress: 10_000 }, pingMs: 3_600_000 },
  });
  const holder = { principal: null, address: '127.0.0.1', query: {} };
  return {
    listener: (_request, response) =>
      void serveEvents(hub, {
        response,
        topic,
        holder,
        filter: undefined,
        lastEventId: undefined,
        headers: [],
      }),
    publish: (n) =>
      hub.publish({ ...topic, incarnation: '1' }, { type: 'record_created', record: recordOf(n) }),
  };
}

/** Publishes events `from` up to `from + events` and resolves when the last stream has been written to. */
async function publishAll(
  publish: (n: number) => void,
  { from, events, pace, last }: { from: number; events: number; pace: Pace; last: Socket },
): Promise<void> {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (let n = from; n < from + events; n++) {
    const before = last.bytesWritten;
    publish(n);
    if (typeof pace === 'number') await new Promise((resolve) => setTimeout(resolve, 1_000 / pace));
    else if (pace === 'turn' || (pace === 'ten' && n % 10 === 9)) await turn();
    else if (pace === 'alone') { while (last.bytesWritten === before) await turn(); }
  }
}

function runServer(): void {
  let publish = (_n: number) => {};
  let last: Socket | undefined;
  let published = 0;
  const work = async (order: Order): Promise<ApiResponse> => {
    if (order.do === 'serve') {
      const made = serve(order.mode);
      publish = made.publish;
      const server = createServer((request, response) => {
        last = request.socket;
        made.listener(request, response);
      });
      await new Promise<void>((resolve) =>
        server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve)
      );
      return { port: (server.address() as AddressInfo).port };
    }
    if (order.do === 'publish' && last !== undefined) {
      const { user, system } = process.cpuUsage();
      const start = clock();
      await publishAll(publish, { from: published, events: order.events, pace: order.pace, last });
      published += order.events;
      const used = process.cpuUsage();
      return { start, cpu: used.user + used.system - user - system };
    }
    global.gc?.();
    return { rss: process.memoryUsage.rss() };
  };
  process.on('message', (order: Order) => void work(order).then((response) => process.send?.(response)));
}

/** The clients: they check that each stream is exactly the frames in order, and how old each event is. */
class Clients {
  #reading = 0;
  #stalled: Socket[] = [];
  #target = 0;
  #done = 0;
  #disorder = 0;
  #ages = createHistogram();
  #onDone: (() => void) | undefined;

  async connect(port: number, streams: number, stalled: number): Promise<void> {
    for (let opened = 0; opened < streams; opened += 100) {
      await Promise.all(
        Array.from(
          { length: Math.min(100, streams - opened) },
          (_, index) => this.#open(port, opened + index < stalled),
        ),
      );
    }
  }

  /** Resolves when every stream that reads has so many more events. */
  receive(events: number): Promise<ApiResponse> {
    this.#target += events * frameLength;
    this.#done = 0;
    this.#ages.reset();
    return new Promise((resolve) => {
      this.#onDone = () =>
        resolve({
          end: clock(),
          p50: this.#ages.percentile(50) / 1_000,
          p99: this.#ages.percentile(99) / 1_000,
          max: this.#ages.max / 1_000,
          disorder: this.#disorder,
        });
    });
  }

  #open(port: number, isStalled: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: bench\r\n\r\n'));
      let head = '';
      let bytes = 0;
      socket.on('error', reject);
      socket.on('data', (chunk: Buffer) => {
        if (bytes > 0 || /\n\n$/.test(head)) return void (bytes = this.#take(chunk, bytes));
        head += chunk.toString();
        if (!/\r\n\r\n[^]*\n\n$/.test(head)) return;
        if (isStalled) this.#stalled.push(socket.pause());
        else this.#reading++;
        resolve();
      });
    });
  }

  #take(chunk: Buffer, before: number): number {
    const after = before + chunk.length;
    const now = clock();
    for (let n = Math.ceil(before / frameLength); n * frameLength + tAt + digits <= after; n++) {
      const at = n * frameLength - before;
      if (numberAt(chunk, at + nAt) !== n) this.#disorder++;
      this.#ages.record(Math.max(1, now - numberAt(chunk, at + tAt)));
    }
    if (before < this.#target && after >= this.#target && ++this.#done === this.#reading) this.#onDone?.();
    return after;
  }
}

function numberAt(bytes: Buffer, at: number): number {
  let value = 0;
  for (let index = at; index < at + digits; index++) value = value * 10 + (bytes[index] ?? 0) - 48;
  return value;
}

function runClients(): void {
  const clients = new Clients();
  process.on('message', (order: Order) => {
    if (order.do === 'connect') {
      void clients.connect(order.port, order.streams, order.stalled).then(() => process.send?.({}));
    } else if (order.do === 'receive') {
      void clients.receive(order.events).then((response) => process.send?.(response));
    }
  });
}

// A child must not outlive the run that started it.
process.on('disconnect', () => process.exit());
if (process.argv[2] === 'server') runServer();
else if (process.argv[2] === 'clients') runClients();
