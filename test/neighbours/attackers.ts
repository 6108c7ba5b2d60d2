// The process of the attackers: raw connections, because a client library would take as much of two cores as the server.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { carryOut } from '../bench/load-process.ts';
import type { AttackPlan, Chatter, Loop, Received } from './plan.ts';

/** What all connections of an attack share. */
interface Run {
  port: number;
  received: Received;
  isOver: () => boolean;
  open: Set<Socket>;
}

async function run(plan: AttackPlan): Promise<Received> {
  const until = performance.now() + plan.seconds * 1_000;
  const shared: Run = {
    port: plan.port,
    received: {},
    isOver: () => performance.now() >= until,
    open: new Set(),
  };
  const connections = (plan.loops ?? []).flatMap((loop) =>
    Array.from({ length: loop.connections }, (_unused, index) => repeat(shared, loop, index))
  );
  const chatting = plan.chatter === undefined ? [] : [chat(shared, plan.chatter)];
  await pause(plan.seconds * 1_000);
  for (const socket of shared.open) socket.destroy();
  await Promise.all([...connections, ...chatting]);
  return shared.received;
}

/** One connection after another, until the attack is over. */
async function repeat(shared: Run, loop: Loop, index: number): Promise<void> {
  let next = index;
  while (!shared.isOver()) {
    const socket = connect({ host: '127.0.0.1', port: shared.port, noDelay: true });
    shared.open.add(socket);
    try {
      next = await talk(shared, socket, loop, next);
      count(shared, 'closed');
    } catch (error) {
      if (shared.isOver()) return;
      count(shared, error instanceof Error && 'code' in error ? String(error.code) : String(error));
      // A server that is full refuses at once: the attack must not become a loop of its own.
      await pause(20);
    } finally {
      shared.open.delete(socket);
      socket.destroy();
    }
  }
}

/** Sends packets and reads their responses until the connection ends; the number of the next request. */
async function talk(shared: Run, socket: Socket, loop: Loop, first: number): Promise<number> {
  const { requests, pipelined = 1, isHeld = false } = loop;
  let next = first;
  const send = () => {
    for (let sent = 0; sent < pipelined; sent++) socket.write(requests[next++ % requests.length] ?? '');
  };
  const responses = new ResponseCounter((status) => count(shared, status));
  send();
  for await (const chunk of socket) {
    if (isHeld || !responses.read(chunk) || responses.total < pipelined) continue;
    responses.total = 0;
    send();
  }
  return next;
}

/** Counts the responses that end in what a connection reads: by their length, or by the last chunk. */
class ResponseCounter {
  readonly #onStatus: (status: string) => void;
  #held = '';
  #missing = 0;
  #isChunked = false;
  /** Responses that have ended. */
  total = 0;

  constructor(onStatus: (status: string) => void) {
    this.#onStatus = onStatus;
  }

  /** True when a response has ended in this chunk. */
  read(chunk: Buffer): boolean {
    const before = this.total;
    let bytes = chunk.toString('latin1');
    while (bytes !== '') bytes = this.#isChunked ? this.#readChunks(bytes) : this.#readBytes(bytes);
    return this.total > before;
  }

  #readBytes(bytes: string): string {
    const body = bytes.slice(0, this.#missing);
    this.#missing -= body.length;
    if (body !== '') {
      if (this.#missing === 0) this.total++;
      return bytes.slice(body.length);
    }
    return this.#readHead(this.#held + bytes);
  }

  #readHead(text: string): string {
    const end = text.indexOf('\r\n\r\n');
    this.#held = end === -1 ? text : '';
    if (end === -1) return '';
    const head = text.slice(0, end);
    this.#onStatus(head.slice(9, 12));
    this.#isChunked = /\r\ntransfer-encoding: chunked/i.test(head);
    this.#missing = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (!this.#isChunked && this.#missing === 0) this.total++;
    return text.slice(end + 4);
  }

  /** The last chunk may come in two pieces. */
  #readChunks(bytes: string): string {
    const text = this.#held + bytes;
    const end = text.indexOf('0\r\n\r\n');
    this.#held = end === -1 ? text.slice(-4) : '';
    if (end === -1) return '';
    this.#isChunked = false;
    this.total++;
    return text.slice(end + 5);
  }
}

async function chat(shared: Run, { path, sockets, message, burst }: Chatter): Promise<void> {
  const open = Array.from({ length: sockets }, () => {
    const socket = new WebSocket(`ws://127.0.0.1:${shared.port}${path}`);
    socket.addEventListener('message', () => count(shared, 'message'));
    socket.addEventListener('close', () => count(shared, 'closed'));
    return socket;
  });
  while (!shared.isOver()) {
    for (const socket of open) {
      if (socket.readyState !== WebSocket.OPEN) continue;
      for (let sent = 0; sent < burst; sent++) socket.send(message);
    }
    await pause(30);
  }
  for (const socket of open) socket.close();
}

function count({ received }: Run, what: string): void {
  received[what] = (received[what] ?? 0) + 1;
}

carryOut(run);
