// Programs that a command runs beside the server, for one piece of work: what they are told, and how they answer.
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { type Connection, Pool } from '../../storage/connections/pool.ts';
import type { DatabaseAccess, FromProgram, ProgramStart } from '../../supervisor/protocol.ts';

/** Does the work when it is told to, and tells its results, its end, or why it could not be done. To be called once. */
export function runOneShot<Start extends ProgramStart, Result>(
  work: (start: Start, tell: (result: Result) => void) => Promise<void>,
): void {
  const say = (message: FromProgram<Result>) => void process.send?.(message);
  process.on('disconnect', () => process.exit(1));
  process.once('message', (start: Start) => {
    work(start, (result) => say({ type: 'result', result })).then(
      () => say({ type: 'done' }),
      (error: unknown) =>
        say({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
    );
  });
}

/** Works with one connection to a database of the cluster. Throws `StorageError`. */
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
