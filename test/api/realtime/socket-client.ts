// A WebSocket client that remembers what it was told.
import { once } from 'node:events';
import { request } from 'node:http';
import { WebSocket } from 'undici';

/** A message of the server. */
export type Told = Readonly<Record<string, unknown>>;

/** One open WebSocket. */
export class SocketClient {
  readonly told: Told[] = [];
  /** The same as it came. */
  readonly texts: string[] = [];
  readonly socket: WebSocket;
  /** Code and reason with which it was closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
  #wake = () => {};
  #isClosed = false;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.addEventListener('message', ({ data }) => {
      this.texts.push(String(data));
      this.told.push(JSON.parse(String(data)));
      this.#wake();
    });
    this.closed = new Promise((resolve) =>
      socket.addEventListener('close', ({ code, reason }) => {
        this.#isClosed = true;
        this.#wake();
        resolve({ code, reason });
      })
    );
  }

  /** Sends a message, as JSON unless it is text or bytes already. */
  say(message: Told | string | Uint8Array<ArrayBuffer>): void {
    const isRaw = typeof message === 'string' || message instanceof Uint8Array;
    this.socket.send(isRaw ? message : JSON.stringify(message));
  }

  /** Waits for so many messages. Throws when the connection closes before. */
  async count(messages: number): Promise<Told[]> {
    while (this.told.length < messages) {
      if (this.#isClosed) throw new Error(`closed; told: ${JSON.stringify(this.told)}`);
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.told;
  }

  /** Says something and waits for the next message. */
  async ask(message: Told | string | Uint8Array<ArrayBuffer>): Promise<Told | undefined> {
    const next = this.told.length + 1;
    this.say(message);
    return (await this.count(next))[next - 1];
  }

  /** Subscribes and waits for the response. */
  async subscribe(id: string, more: Told = {}): Promise<Told | undefined> {
    return this.ask({ type: 'subscribe', id, collection: 'orders', ...more });
  }

  /** Waits until everything that was said before is answered; forgets the response. */
  async settle(): Promise<void> {
    this.say({ type: 'ping' });
    const pongAt = () => this.told.findIndex(({ type }) => type === 'pong');
    while (pongAt() === -1) await this.count(this.told.length + 1);
    this.told.splice(pongAt(), 1);
  }
}

/** The rig's path. */
export const path = '/api/workspaces/acme/apps/shop/realtime';

/** Opens a WebSocket. */
export async function openSocket(
  port: number,
  headers: Record<string, string> = {},
  at: string = path,
): Promise<SocketClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${at}`, { headers });
  const client = new SocketClient(socket);
  await once(socket, 'open');
  return client;
}

/** What a refused upgrade was answered. */
export interface Refusal {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  body: string;
}

const handshakeHeaders = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Asks for a WebSocket with any headers and gives the HTTP answer; status 101 when it was opened. */
export function handshake(
  port: number,
  { at = path, headers = {} }: { at?: string; headers?: Record<string, string> } = {},
): Promise<Refusal> {
  return new Promise((resolve, reject) => {
    const asking = request({
      port,
      host: '127.0.0.1',
      path: at,
      headers: { ...handshakeHeaders, ...headers },
    });
    asking.on('error', reject);
    asking.on('upgrade', ({ statusCode = 0, headers: given }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, headers: given, body: '' });
    });
    asking.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => body += chunk);
      response.on(
        'end',
        () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    asking.end();
  });
}
