// One connection to one database as one role, from its opening to its end; it is never opened a second time.
import type driver from 'postgres';
import { postgres, unpatchedFiles } from './driver/driver.ts';
import { disableRetry } from './driver/retry.ts';
import { NoResponseInTime, StorageError } from '../errors.ts';
import { InFlight } from './in-flight.ts';
import type { Outage } from './outage.ts';
import { PreparedStatements } from './driver/prepared.ts';
import { makeRowsWhole } from './driver/whole-rows.ts';
import { type ConnectionNames, connectionSettings } from './connection-names.ts';
import { type Address, openSocket, type OwnSocket } from './driver/socket.ts';
import { textArrayType } from '../sql/text-array.ts';
import type { ConnectionScheduler } from './connection-scheduler.ts';

/** The address of a server, and the database and role to connect as. */
export interface Login extends Address {
  database: string;
  username: string;
  password: string;
  settings?: Readonly<Record<string, string>>;
}

/** Options for one server. `outage` and `scheduler` are shared by all connections to it. */
export interface ServerOptions {
  outage: Outage;
  /** The silence after which the server is given up, in milliseconds; see `Client`. */
  silenceTimeoutMs?: number | undefined;
  /** The order in which connections send their work; without it, all send at once. */
  scheduler?: ConnectionScheduler<Client> | undefined;
  /** The names of this process's connections, for servers where work of a lost connection may still be done later. */
  connectionNames?: ConnectionNames | undefined;
}

const authenticationSeconds = 5;
const checkIntervalMs = 500;

/** A client of the driver with a single connection, which its first statement opens. */
export class Client {
  readonly sql: driver.Sql;
  readonly prepared = new PreparedStatements();
  /** Runs, transactions included, that have not ended. */
  inFlight = 0;
  /** Open transactions. Statements on this client would wait for their end. */
  transactions = 0;
  /** True once the server has accepted the connection. Statements are sent after that. */
  isAdmitted = false;
  /** True when it holds a share of the work that its pool may have in flight. */
  isAtWork = false;
  /** The time of its last use, in milliseconds. */
  idleSince: number;
  readonly #role: string;
  readonly #onLost: () => void;
  readonly #outage: Outage;
  readonly #silenceTimeoutMs: number;
  readonly #scheduler: ConnectionScheduler<Client> | undefined;
  readonly #connectionNames: ConnectionNames | undefined;
  readonly #name: string | undefined;
  /** Ends each run and each open transaction with an error. */
  readonly #open = new InFlight<(error: Error) => void>();
  #lastNumber = 0;
  #socket: OwnSocket | undefined;
  #state: 'open' | 'closing' | 'lost' = 'open';
  /** The timer of the checks. It runs until a check finds nothing in flight. */
  #checkTimer: NodeJS.Timeout | undefined;
  /** The number of consecutive checks that found the server silent. */
  #silentChecks = 0;
  #bytesRead = 0;
  /** The longer limits of silence of open transactions, in milliseconds. */
  readonly #longerTimeouts = new Map<number, number>();

  /**
   * `onLost` is called once: when the connection could not be made, ended by itself, or was given up because the server
   * was silent for `silenceTimeoutMs` while something was in flight. Without that limit it waits without end.
   * `onNotify` gets the payloads of every channel that a statement makes this connection listen to.
   */
  constructor(
    endpoint: Login,
    options: ServerOptions & { now: number; onLost: () => void; onNotify?: (payload: string) => void },
  ) {
    this.idleSince = options.now;
    this.#silenceTimeoutMs = options.silenceTimeoutMs ?? Infinity;
    this.#role = endpoint.username;
    this.#onLost = options.onLost;
    this.#outage = options.outage;
    this.#scheduler = options.scheduler;
    this.#connectionNames = options.connectionNames;
    this.#name = options.connectionNames?.begin();
    this.sql = this.prepared.watch(postgres(this.#settings(endpoint, options.onNotify)));
    disableRetry();
    if (unpatchedFiles.includes('connection.js')) makeRowsWhole(this.sql);
  }

  /**
   * Runs work outside a transaction. A lost connection ends it at once: the driver drops statements that waited for a
   * connection which the server then refused, as it does while it starts.
   */
  run<Result>(work: (sql: driver.ISql) => Promise<Result>): Promise<Result> {
    return this.#untilLost(() => this.#inTurn(work));
  }

  async #inTurn<Result>(work: (sql: driver.ISql) => Promise<Result>): Promise<Result> {
    const turn = this.#scheduler?.enter(this);
    if (turn !== undefined) await turn;
    try {
      return await work(this.sql);
    } finally {
      this.#scheduler?.leave(this);
    }
  }

  /**
   * Runs work in a transaction. A lost connection ends it at once: the driver itself would wait for the response to a
   * `rollback` that it cannot send. `silenceTimeoutMs` is the limit for this transaction, if it is longer than the
   * usual one.
   */
  transaction<Result>(
    work: (sql: driver.ISql) => Promise<Result>,
    silenceTimeoutMs?: number,
  ): Promise<Result> {
    this.transactions++;
    const begun = this.#untilLost(async () => {
      const { result } = await this.sql.begin(async (sql) => ({
        result: await work(this.prepared.watch(sql)),
      }));
      return result;
    });
    const number = this.#lastNumber;
    if (silenceTimeoutMs !== undefined) this.#longerTimeouts.set(number, silenceTimeoutMs);
    return begun.finally(() => {
      this.transactions--;
      this.#longerTimeouts.delete(number);
    });
  }

  /** True when the role that this is connected as still exists, and when that cannot be found out. */
  hasRole(): Promise<boolean> {
    const found = this.run((sql) => sql`select from pg_catalog.pg_roles where rolname = ${this.#role}`);
    return found.then(({ length }) => length > 0, () => true);
  }

  #untilLost<Result>(start: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#state === 'lost') return reject(lostConnection());
      const number = ++this.#lastNumber;
      this.#open.set(number, reject);
      this.#checkTimer ??= setInterval(() => this.#checkSilence(), checkIntervalMs).unref();
      start().then(resolve, reject).finally(() => this.#open.delete(number));
    });
  }

  /**
   * Gives up a server that is silent, such as one that is stopped or whose host is down: its own timeouts do not come
   * then. It counts checks, not time. If this process itself was suspended, there is one check, and then the pending
   * bytes are read.
   */
  #checkSilence(): void {
    if (this.#open.size === 0 || this.#state === 'lost') {
      clearInterval(this.#checkTimer);
      this.#checkTimer = undefined;
      this.#silentChecks = 0;
      return;
    }
    const bytesRead = this.#socket?.socket.bytesRead ?? 0;
    this.#silentChecks = bytesRead === this.#bytesRead ? this.#silentChecks + 1 : 0;
    this.#bytesRead = bytesRead;
    const limit = Math.max(this.#silenceTimeoutMs, ...this.#longerTimeouts.values());
    // The first silent check may have come right after the statement was sent.
    if ((this.#silentChecks - 1) * checkIntervalMs >= limit) this.#fail();
  }

  /** Closes the connection, at most `seconds` from now. What is still in flight then fails. */
  async close(seconds: number): Promise<void> {
    if (this.#state === 'lost') return;
    this.#state = 'closing';
    this.#connectionNames?.end(this.#name);
    this.#socket?.release();
    await this.sql.end({ timeout: seconds });
  }

  #settings(
    { host, port, ssl, database, username, password, settings }: Login,
    onNotify?: (payload: string) => void,
  ) {
    return {
      host,
      port,
      database,
      username,
      password,
      socket: () => this.#connect({ host, port, ssl }),
      max: 1,
      idle_timeout: 0,
      max_lifetime: null,
      // The unpatched driver loses the connection of a `begin` that fills the pipeline: see driver/README.md.
      max_pipeline: Number.MAX_SAFE_INTEGER,
      connect_timeout: authenticationSeconds,
      fetch_types: false,
      types: { textArray: textArrayType },
      onnotice: () => undefined,
      // Sent after everything that a connection can be refused for, and before the server is ready for a statement.
      onparameter: () => this.isAdmitted = true,
      // The driver's own `listen` takes another connection, which cannot run statements.
      onnotify: (_channel: string, payload: string) => onNotify?.(payload),
      connection: { ...connectionSettings(this.#name), ...settings },
    };
  }

  async #connect(address: Address) {
    if (!this.#outage.mayTry()) throw this.#fail();
    try {
      this.#socket = await openSocket(address, () => this.#lose());
    } catch (error) {
      this.#outage.begin();
      throw this.#fail(error);
    }
    if (this.#state === 'lost') {
      this.#socket.socket.destroy();
      throw lostConnection();
    }
    // The server sends nothing before the driver, which listens by then, has sent its startup message.
    this.#socket.socket.once('data', (bytes) => this.#outage.noteFirstBytes(bytes));
    if (this.#state === 'closing') this.#socket.release();
    return this.#socket.socket;
  }

  /** Gives the connection up, since the server cannot be reached, and returns the error to throw. */
  #fail(cause?: unknown): StorageError {
    const message = 'the database does not respond';
    const failure = cause === undefined
      ? new NoResponseInTime(message)
      : new StorageError('unavailable', message, { cause });
    this.#lose(failure);
    return failure;
  }

  /** Fails everything in flight, and everything later, at once: the driver would wait for a connection without end. */
  #lose(failure = lostConnection()): void {
    if (this.#state !== 'open') return;
    this.#state = 'lost';
    this.#connectionNames?.end(this.#name);
    void this.sql.end({ timeout: 0 });
    this.#socket?.socket.destroy();
    for (const [, end] of this.#open.entries()) end(failure);
    this.#onLost();
  }
}

function lostConnection(): StorageError {
  return new StorageError('unavailable', 'the connection to the database was lost');
}
