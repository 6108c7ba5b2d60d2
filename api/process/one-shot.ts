// One-shot programs, which a command of the supervisor runs beside the server.
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { type Connection, Pool } from '../../storage/connections/pool.ts';
import type { DatabaseAccess, FromProgram } from '../../supervisor/protocol.ts';

/** Waits for the start message, does the work, and sends its results, its end or its failure. Call it once in a program. */
export function runAsOneShot<Start extends object, Result>(
  work: (start: Start, sendResult: (result: Result) => void) => Promise<void>,
): void {
  const send = (message: FromProgram<Result>) => void process.send?.(message);
  process.on('disconnect', () => process.exit(1));
  process.once('message', (start: Start) => {
    work(start, (result) => send({ type: 'result', result })).then(
      () => send({ type: 'done' }),
      (error: unknown) =>
        send({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
    );
  });
}

/** Runs work with one connection to a database of the cluster. Throws `StorageError`. */
export async function withConnection<Result>(
  access: DatabaseAccess,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const pool = new Pool(access, { cap: 1, permits: unlimitedPermits, now: Date.now });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
