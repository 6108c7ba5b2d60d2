// Sends requests to a server, as a command does: errors of the server become failures that say what to do.
import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailed, type FailureKind } from './failure.ts';
import { memberOf, textMember } from './members.ts';

/** A request besides its path. */
export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  stream?: ReadableStream<Uint8Array>;
  headers?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | undefined>>;
  signal?: AbortSignal;
  /** Statuses of errors that are returned like others. */
  accept?: readonly number[];
}

/** A response whose body was read as JSON, or as text. */
export interface RemoteResponse {
  status: number;
  headers: Headers;
  body: unknown;
}

const maxWaits = 5;
const maxWaitSeconds = 10;

/** A server, as one principal. */
export class RemoteClient {
  readonly url: string;
  readonly token: string | undefined;

  constructor(url: string, token: string | undefined) {
    this.url = url;
    this.token = token;
  }

  /** Sends a request and reads its response. Throws `CommandFailed`. */
  async request(path: string, options: RequestOptions = {}): Promise<RemoteResponse> {
    const response = await this.open(path, options);
    const { status, headers } = response;
    try {
      return { status, headers, body: await readBody(response) };
    } catch {
      throw new CommandFailed('unavailable', `${this.url} broke its response off; try again`);
    }
  }

  /** Sends a request and returns the response unread. Waits where the server says so. Throws `CommandFailed`. */
  async open(path: string, options: RequestOptions = {}): Promise<Response> {
    for (let waits = 0;; waits++) {
      const response = await this.#send(path, options);
      if (response.ok || options.accept?.includes(response.status) === true) return response;
      const seconds = Number(response.headers.get('Retry-After') ?? NaN);
      const mayRepeat = options.stream === undefined && waits < maxWaits && seconds <= maxWaitSeconds;
      if (!mayRepeat) throw await this.#failure(response);
      await response.body?.cancel();
      await pause(seconds * 1_000);
    }
  }

  async #send(path: string, options: RequestOptions): Promise<Response> {
    const { method = 'GET', body, stream, headers, query = {}, signal } = options;
    const url = new URL(this.url + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    try {
      return await fetch(url, {
        method,
        redirect: 'manual',
        headers: {
          ...this.token !== undefined && { Authorization: `Bearer ${this.token}` },
          ...body !== undefined && { 'Content-Type': 'application/json' },
          ...headers,
        },
        ...body !== undefined && { body: JSON.stringify(body) },
        ...stream !== undefined && { body: stream, duplex: 'half' },
        ...signal !== undefined && { signal },
      });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw new CommandFailed('unavailable', `no server responds at ${this.url}: ${describeCause(error)}`);
    }
  }

  async #failure(response: Response): Promise<CommandFailed> {
    const { status } = response;
    const body = await readBody(response).catch(() => undefined);
    const code = textMember(body, 'code');
    if (code === undefined) {
      return new CommandFailed('refused', `${this.url} is no Bulkhead server: it responds with ${status}`);
    }
    const message = textMember(body, 'message') ?? '';
    return new CommandFailed(
      kindOf(status, code),
      `${message} (${status} ${code})${this.#advice(code)}`,
      code,
    );
  }

  #advice(code: string): string {
    if (code === 'uninitialized') return `\nSet the server up first: bulkhead setup --url ${this.url}`;
    if (code === 'unauthorized') return `\nSign in: bulkhead login --url ${this.url}`;
    return '';
  }
}

function kindOf(status: number, code: string): FailureKind {
  if (code === 'uninitialized') return 'refused';
  if (status === 401 || status === 403) return 'unauthorized';
  return status === 429 || status >= 500 ? 'unavailable' : 'refused';
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
  return isJson && text !== '' ? JSON.parse(text) : text;
}

/** "fetch failed" alone does not say why. */
function describeCause(error: unknown): string {
  const cause = memberOf(error, 'cause') ?? (error instanceof Error ? error.cause : undefined);
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'the connection is refused; start one with bulkhead serve';
  return cause instanceof Error && cause.message !== '' ? cause.message : code === '' ? String(error) : code;
}
