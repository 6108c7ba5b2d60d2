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
import type { Turns } from './connection-scheduler.ts';

/** Where and as whom to connect. */
export interface Login extends Address {
  database: string;
  username: string;
  password: string;
}

/** What is known of a server, and how it is to be met; `outage` and `turns` are shared by all who connect to it. */
export interface ServerOptions {
  outage: Outage;
  /** Milliseconds; see `Client`. */
  silenceTimeoutMs?: number | undefined;
  /** Without it, everybody's work goes at once. */
  turns?: Turns<Client> | undefined;
  /** Where what was asked on a lost connection matters for as long as it may yet be done. */
  sessions?: ConnectionNames | undefined;
}

const authenticationSeconds = 5;
const checkIntervalMs = 500;

/** A driver's client with a single connection, opened by its first statement. */
export class Client {
  readonly sql: driver.Sql;
  readonly prepared = new PreparedStatements();
  /** Runs, transactions included, that have not ended. */
  inFlight = 0;
  /** Open transactions: statements put on this client would wait for their end. */
  transactions = 0;
  /** Whether the server has taken it in; what is asked goes out after that. */
  isAdmitted = false;
  /** Whether it holds part of the work that its pool may have under way. */
  isAtWork = false;
  /** In milliseconds. */
  idleSince: number;
  readonly #role: string;
  readonly #onLost: () => void;
  readonly #outage: Outage;
  readonly #patience: number;
  readonly #turns: Turns<Client> | undefined;
  readonly #sessions: ConnectionNames | undefined;
  readonly #name: string | undefined;
  /** Ends each run and each open transaction with an error. */
  readonly #open = new InFlight<(error: Error) => void>();
  #lastNumber = 0;
  #socket: OwnSocket | undefined;
  #state: 'open' | 'closing' | 'lost' = 'open';
  /** Runs as long as something is in flight, and until the next look. */
  #looking: NodeJS.Timeout | undefined;
  /** Looks, one after another, that have found the server silent. */
  #silentLooks = 0;
  #bytesRead = 0;
  /** Milliseconds of silence that open transactions bear which may take longer than the rest. */
  readonly #patient = new Map<number, number>();

  /**
   * `onLost` is called once, when the connection could not be made, ended by itself or was given up, because the server
   * said nothing for `patience` milliseconds while something was in flight. Without `patience` it is waited for without end.
   * `onNotify` is called with what comes from any channel that a statement has this listen to.
   */
  constructor(
    endpoint: Login,
    options: ServerOptions & { now: number; onLost: () => void; onNotify?: (payload: string) => void },
  ) {
    this.idleSince = options.now;
    this.#patience = options.silenceTimeoutMs ?? Infinity;
    this.#role = endpoint.username;
    this.#onLost = options.onLost;
    this.#outage = options.outage;
    this.#turns = options.turns;
    this.#sessions = options.sessions;
    this.#name = options.sessions?.begin();
    this.sql = this.prepared.watch(postgres(this.#settings(endpoint, options.onNotify)));
    disableRetry();
    if (unpatchedFiles.includes('connection.js')) makeRowsWhole(this.sql);
  }

  /**
   * Runs work outside a transaction. A lost connection ends it at once: the driver forgets statements that waited for a
   * connection which the server then refused, as one does that is starting up.
   */
  run<Result>(work: (sql: driver.ISql) => Promise<Result>): Promise<Result> {
    return this.#whileOpen(() => this.#inTurn(work));
  }

  async #inTurn<Result>(work: (sql: driver.ISql) => Promise<Result>): Promise<Result> {
    const turn = this.#turns?.enter(this);
    if (turn !== undefined) await turn;
    try {
      return await work(this.sql);
    } finally {
      this.#turns?.leave(this);
    }
  }

  /**
   * Runs work in a transaction. A lost connection ends it at once: the driver itself would wait for the answer to a
   * `rollback` that it cannot send. `patience` is that of this transaction, where it is longer than the usual one.
   */
  transaction<Result>(
    work: (sql: driver.ISql) => Promise<Result>,
    patience?: number,
  ): Promise<Result> {
    this.transactions++;
    const begun = this.#whileOpen(async () => {
      const { result } = await this.sql.begin(async (sql) => ({
        result: await work(this.prepared.watch(sql)),
      }));
      return result;
    });
    const number = this.#lastNumber;
    if (patience !== undefined) this.#patient.set(number, patience);
    return begun.finally(() => {
      this.transactions--;
      this.#patient.delete(number);
    });
  }

  /** Whether the role is still there that this is connected as; a connection that cannot say does not count against it. */
  hasRole(): Promise<boolean> {
    const asked = this.run((sql) => sql`select from pg_catalog.pg_roles where rolname = ${this.#role}`);
    return asked.then(({ length }) => length > 0, () => true);
  }

  #whileOpen<Result>(start: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#state === 'lost') return reject(lostConnection());
      const number = ++this.#lastNumber;
      this.#open.set(number, reject);
      this.#looking ??= setInterval(() => this.#look(), checkIntervalMs).unref();
      start().then(resolve, reject).finally(() => this.#open.delete(number));
    });
  }

  /**
   * Gives up a server that no longer answers, as one that is stopped or whose host is gone: its own deadlines do not come
   * then. Looks are counted, not time: after a rest of this process itself there is one, and then what was said meanwhile is
   * read.
   */
  #look(): void {
    if (this.#open.size === 0 || this.#state === 'lost') {
      clearInterval(this.#looking);
      this.#looking = undefined;
      this.#silentLooks = 0;
      return;
    }
    const bytesRead = this.#socket?.socket.bytesRead ?? 0;
    this.#silentLooks = bytesRead === this.#bytesRead ? this.#silentLooks + 1 : 0;
    this.#bytesRead = bytesRead;
    const bearable = Math.max(this.#patience, ...this.#patient.values());
    // The first of them may have come right behind the question.
    if ((this.#silentLooks - 1) * checkIntervalMs >= bearable) this.#fail();
  }

  /** Closes the connection, at most `seconds` from now; what is in flight then fails. */
  async close(seconds: number): Promise<void> {
    if (this.#state === 'lost') return;
    this.#state = 'closing';
    this.#sessions?.end(this.#name);
    this.#socket?.release();
    await this.sql.end({ timeout: seconds });
  }

  #settings(
    { host, port, ssl, database, username, password }: Login,
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
      // The unpatched driver loses the connection of a `begin` that fills the pipeline: see driver/README.md. The requests that
      // there are bound what is in flight.
      max_pipeline: Number.MAX_SAFE_INTEGER,
      connect_timeout: authenticationSeconds,
      fetch_types: false,
      types: { textArray: textArrayType },
      onnotice: () => undefined,
      // Said after all that a connection can be refused for, and before the server is ready for a statement.
      onparameter: () => this.isAdmitted = true,
      // The driver's own way to listen takes another connection, on which nothing else can be asked.
      onnotify: (_channel: string, payload: string) => onNotify?.(payload),
      connection: connectionSettings(this.#name),
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
    // It says nothing before the driver, which listens by then, has introduced itself.
    this.#socket.socket.once('data', (answer) => this.#outage.noteFirstBytes(answer));
    if (this.#state === 'closing') this.#socket.release();
    return this.#socket.socket;
  }

  /** Gives the connection up, as the server cannot be reached, and answers the error that says so. */
  #fail(cause?: unknown): StorageError {
    const message = 'the database does not answer';
    const failure = cause === undefined
      ? new NoResponseInTime(message)
      : new StorageError('unavailable', message, { cause });
    this.#lose(failure);
    return failure;
  }

  /** Fails what is in flight and what comes, at once: the driver would wait for a connection that never comes. */
  #lose(failure = lostConnection()): void {
    if (this.#state !== 'open') return;
    this.#state = 'lost';
    this.#sessions?.end(this.#name);
    void this.sql.end({ timeout: 0 });
    this.#socket?.socket.destroy();
    for (const [, end] of this.#open.entries()) end(failure);
    this.#onLost();
  }
}

function lostConnection(): StorageError {
  return new StorageError('unavailable', 'the connection to the database was lost');
}
