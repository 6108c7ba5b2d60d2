// Seals the audit logs in the background, so that no request waits until a chain is free.
import { setTimeout as pause } from 'node:timers/promises';
import { type Chain, hasUnsealed, sealBatch, sealedAmong } from '../../storage/audit/chain.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { isAssigned } from '../../storage/control/tenant-databases.ts';
import { FairQueue } from '../../storage/concurrency/fair-queue.ts';
import type { Deps } from '../deps.ts';
import { logFailure } from '../logging/events.ts';
import { ignore } from '../logging/ignore.ts';
import { withEveryLog } from './logs.ts';
import type { SealQueue } from './ports.ts';

type SealDeps = Pick<Deps, 'databases' | 'secrets' | 'observe'>;

/** Rows come in bursts, which are sealed together. */
const roundMs = 200;
/** Limits are in rounds, not in time, because the clock may be set. */
const roundsPerSecond = 1_000 / roundMs;
/** A row cannot be seen while its transaction is open. No transaction is open for more rounds than these. */
const maxTransactionRounds = 20 * roundsPerSecond;
/** A log that cannot be reached for this many rounds is left to the next start. */
const maxFailedRounds = 600 * roundsPerSecond;
/** Logs that are sealed at the same time. */
const maxConcurrentLogs = 4;
/** The other work of a start comes first. */
const sweepDelayMs = 2_000;

/** A log with rows to be sealed. */
interface PendingLog {
  chain: Chain;
  /** The number of rounds in which each row was looked for, by its id. */
  rows: Map<string, number>;
}

/** The rows of one process that wait to be sealed, and the rounds that seal them. */
export class Sealer implements SealQueue {
  readonly #deps: SealDeps;
  readonly #logFailure: (error: unknown) => void;
  /** By the name of the chain. */
  readonly #pending = new Map<string, PendingLog>();
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #sweep: Promise<void> | undefined;

  constructor(deps: SealDeps) {
    this.#deps = deps;
    this.#logFailure = logFailure(deps, 'seal an audit log');
  }

  enqueue(chain: Chain, id: string): void {
    const log = this.#pending.get(chain.name) ?? { chain, rows: new Map<string, number>() };
    this.#pending.set(chain.name, log);
    log.rows.set(id, 0);
    this.#schedule();
  }

  /** Seals in the background the rows that a dead process has left in any log. */
  sweep(): void {
    this.#sweep ??= this.#sweepAll().catch(this.#logFailure);
  }

  /** Seals the rows that wait, and stops. */
  async close(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#sweep;
    await this.#round;
    await this.#sealPending();
  }

  /** Schedules the next round. The timer keeps the process alive, and `close` clears it. */
  #schedule(): void {
    if (this.#ending.signal.aborted || this.#timer !== undefined || this.#round !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#round = this.#sealPending().finally(() => {
        this.#round = undefined;
        if (this.#pending.size > 0) this.#schedule();
      });
    }, roundMs);
  }

  async #sealPending(): Promise<void> {
    const queue = new FairQueue({ slots: maxConcurrentLogs });
    const logs = [...this.#pending.values()];
    await Promise.all(logs.map((log) => queue.run(() => this.#sealLog(log))));
  }

  /** Seals the rows of one log that can be seen. The others wait for the next round. */
  async #sealLog({ chain, rows }: PendingLog): Promise<void> {
    const waiting = [...rows.keys()];
    const connection = this.#connection(chain);
    let maxRounds = maxTransactionRounds;
    try {
      await this.#sealAll(connection, chain);
      const sealed = await connection.run((sql) => sealedAmong(sql, chain, waiting));
      for (const id of sealed) rows.delete(id);
    } catch (error) {
      if (await this.#isDeleted(chain)) return this.#drop(chain);
      // Logged in the first round of a row only, as it is retried.
      if (waiting.some((id) => rows.get(id) === 0)) this.#logFailure(error);
      maxRounds = maxFailedRounds;
    }
    for (const id of waiting) {
      const rounds = rows.get(id);
      if (rounds === undefined) continue;
      if (rounds >= maxRounds) rows.delete(id);
      else rows.set(id, rounds + 1);
    }
    if (rows.size === 0) this.#pending.delete(chain.name);
  }

  /** True when the workspace was deleted with its log; false also when that cannot be found out. */
  async #isDeleted({ schema, name }: Chain): Promise<boolean> {
    if (schema === 'control') return false;
    const { control } = this.#deps.databases;
    return !await control.run((sql) => isAssigned(sql, name)).catch(() => true);
  }

  #drop({ name }: Chain): void {
    this.#pending.delete(name);
    void this.#deps.databases.closePools(name);
  }

  async #sealAll(connection: Connection, chain: Chain): Promise<void> {
    while (await sealBatch(connection, chain, this.#deps.secrets) > 0);
  }

  async #sweepAll(): Promise<void> {
    const { signal } = this.#ending;
    await pause(sweepDelayMs, undefined, { signal }).catch(ignore('checked on the next line'));
    if (signal.aborted) return;
    await withEveryLog(
      this.#deps,
      async (connection, chain) => {
        if (await connection.run((sql) => hasUnsealed(sql, chain))) await this.#sealAll(connection, chain);
      },
      { ending: signal, onFailure: this.#logFailure },
    );
  }

  #connection({ schema, name }: Chain): Connection {
    const { databases } = this.#deps;
    return schema === 'control' ? databases.control : databases.workspace(name);
  }
}
