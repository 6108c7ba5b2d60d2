// Sealing the audit logs behind the requests that append to them, so that no request waits for its turn in a chain.
import { setTimeout as pause } from 'node:timers/promises';
import { type Chain, hasUnsealed, sealBatch, sealedAmong } from '../../storage/audit/chain.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { isAssigned } from '../../storage/control/tenant-databases.ts';
import { FairQueue } from '../../storage/concurrency/fair-queue.ts';
import type { Deps } from '../deps.ts';
import { logFailure } from '../logging/events.ts';
import { withEveryLog } from './logs.ts';
import type { SealQueue } from './ports.ts';

type SealDeps = Pick<Deps, 'databases' | 'secrets' | 'observe'>;

/** Rows come in bursts: those of one are sealed together. */
const gatherMs = 200;
/** Rounds are counted, not timed, as the clock may be set; one that has trouble only takes longer. */
const roundsPerSecond = 1_000 / gatherMs;
/** A row whose transaction is still open cannot be seen; after so many rounds there is no such transaction any more. */
const maxTransactionRounds = 20 * roundsPerSecond;
/** A log that cannot be reached in so many rounds is left to the next start. */
const maxTroubleRounds = 600 * roundsPerSecond;
/** Logs that are sealed at the same time. */
const maxConcurrentLogs = 4;
/** What a start has to do otherwise comes first. */
const sweepDelayMs = 2_000;

/** A log that has, or will soon have, rows to be sealed. */
interface PendingLog {
  chain: Chain;
  /** In how many rounds each row was looked for, by its id. */
  rows: Map<string, number>;
}

/** Who is told of new rows of audit logs, and seals them. */
export class Sealer implements SealQueue {
  readonly #deps: SealDeps;
  readonly #report: (error: unknown) => void;
  readonly #awaited = new Map<string, PendingLog>();
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #sweep: Promise<void> | undefined;

  constructor(deps: SealDeps) {
    this.#deps = deps;
    this.#report = logFailure(deps, 'seal an audit log');
  }

  enqueue(chain: Chain, id: string): void {
    const awaited = this.#awaited.get(chain.name) ?? { chain, rows: new Map<string, number>() };
    this.#awaited.set(chain.name, awaited);
    awaited.rows.set(id, 0);
    this.#later();
  }

  /** Seals, in the background, what a process that died has left in any log. */
  sweep(): void {
    this.#sweep ??= this.#sweepAll().catch(this.#report);
  }

  /** Seals what is there to be sealed, and stops. */
  async close(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#sweep;
    await this.#round;
    await this.#sealAwaited();
  }

  /** A timer that is referenced: the process lives on for its socket anyway, and `close` ends it. */
  #later(): void {
    if (this.#ending.signal.aborted || this.#timer !== undefined || this.#round !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#round = this.#sealAwaited().finally(() => {
        this.#round = undefined;
        if (this.#awaited.size > 0) this.#later();
      });
    }, gatherMs);
  }

  async #sealAwaited(): Promise<void> {
    const queue = new FairQueue({ slots: maxConcurrentLogs });
    const waiting = [...this.#awaited.values()];
    await Promise.all(waiting.map((awaited) => queue.run(() => this.#settle(awaited))));
  }

  /** One log: sealed as far as its rows can be seen; those that cannot be yet are waited for. */
  async #settle({ chain, rows }: PendingLog): Promise<void> {
    const asked = [...rows.keys()];
    const connection = this.#connection(chain);
    let patience = maxTransactionRounds;
    try {
      await this.#sealAll(connection, chain);
      const sealed = await connection.run((sql) => sealedAmong(sql, chain, asked));
      for (const id of sealed) rows.delete(id);
    } catch (error) {
      if (await this.#isGone(chain)) return this.#forget(chain);
      // It is tried again, so it is told of once, when it begins.
      if (asked.some((id) => rows.get(id) === 0)) this.#report(error);
      patience = maxTroubleRounds;
    }
    for (const id of asked) {
      const rounds = rows.get(id);
      if (rounds === undefined) continue;
      if (rounds >= patience) rows.delete(id);
      else rows.set(id, rounds + 1);
    }
    if (rows.size === 0) this.#awaited.delete(chain.name);
  }

  /** Whether the workspace was deleted with its log; as long as nobody can say, it is there. */
  async #isGone({ schema, name }: Chain): Promise<boolean> {
    if (schema === 'control') return false;
    const { control } = this.#deps.databases;
    return !await control.run((sql) => isAssigned(sql, name)).catch(() => true);
  }

  #forget({ name }: Chain): void {
    this.#awaited.delete(name);
    void this.#deps.databases.closePools(name);
  }

  async #sealAll(connection: Connection, chain: Chain): Promise<void> {
    while (await sealBatch(connection, chain, this.#deps.secrets) > 0);
  }

  async #sweepAll(): Promise<void> {
    const { signal } = this.#ending;
    await pause(sweepDelayMs, undefined, { signal }).catch(() => 'told to stop');
    if (signal.aborted) return;
    await withEveryLog(
      this.#deps,
      async (connection, chain) => {
        if (await connection.run((sql) => hasUnsealed(sql, chain))) await this.#sealAll(connection, chain);
      },
      { ending: signal, onFailure: this.#report },
    );
  }

  #connection({ schema, name }: Chain): Connection {
    const { databases } = this.#deps;
    return schema === 'control' ? databases.control : databases.workspace(name);
  }
}
