// Starts the yardstick and tells it which table to read and write.
import { fork } from 'node:child_process';
import { once } from 'node:events';

/** Where the yardstick's records are, and as whom it connects. */
export interface YardstickTable {
  host: string;
  port: number;
  database: string;
  username: string;
  password: string;
  schema: string;
  table: string;
  /** The fields of the collection; a create takes them all. */
  columns: readonly string[];
  /** What a list is sorted by, in SQL. */
  sort: string;
  /** What a filtered list is narrowed by. */
  filter?: { sql: string; params: readonly (string | number)[] };
  connections: number;
}

/** A process that serves HTTP. */
export interface Served {
  port: number;
  pid: number;
  stop(): Promise<void>;
}

/**
 * Starts the yardstick; without a table it answers `/hello` only. `execArgv` are flags for Node. In a session of its
 * own, as the API is: Linux shares the processors out by session (sched(7), autogroup).
 */
export async function startYardstick(table: YardstickTable | null, execArgv: string[] = []): Promise<Served> {
  const child = fork(new URL('./yardstick.ts', import.meta.url), { execArgv, detached: true });
  const ready = once(child, 'message');
  child.send({ table });
  const [port] = await ready;
  if (typeof port !== 'number' || child.pid === undefined) throw new Error('the yardstick did not start');
  return {
    port,
    pid: child.pid,
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGINT');
      await gone;
    },
  };
}
