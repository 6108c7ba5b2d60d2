// Tries the database as the server would, without changing anything.
import { inspectServer } from '../../storage/boot/inspect.ts';
import { checkServer } from '../../storage/boot/requirements.ts';
import { StartRefused } from '../../storage/boot/start-refused.ts';
import { Secrets } from '../../storage/secrets.ts';
import type { Finding } from '../../supervisor/doctor/protocol.ts';
import type { DatabaseAccess } from '../../supervisor/protocol.ts';
import { withConnection } from '../process/one-shot.ts';
import { compareClock, type ForeignClock } from './clocks.ts';

const check = 'database';

/** Connects, and asks whether all requirements are met. Adds the clock of the database. */
export async function examineDatabase(
  access: DatabaseAccess,
  { masterKey, clocks }: { masterKey: string | null; clocks: ForeignClock[] },
): Promise<Finding> {
  const secrets = masterKey === null ? undefined : new Secrets(Buffer.from(masterKey, 'base64'));
  const where = `${access.host}${access.host.startsWith('/') ? '' : `:${access.port}`}`;
  try {
    return await withConnection(access, async (connection) => {
      await checkServer(connection);
      const begin = Date.now();
      const { version, clock, fitsKey } = await inspectServer(connection, secrets);
      clocks.push(compareClock('the database', clock, { begin }));
      if (fitsKey !== false) return ok(`PostgreSQL ${version}, ${where}`);
      return failed(
        'the database was made with another master key than this data_dir has',
        'restore <data_dir>/master.key, or set secrets.master_key',
      );
    });
  } catch (error) {
    if (error instanceof StartRefused) return failed(error.message, 'see docs/how-to/external-postgresql.md');
    return failed(`${where}: ${withCause(error)}`, 'start it, or set another database.url');
  }
}

function ok(message: string): Finding {
  return { check, status: 'ok', message, advice: null };
}

function failed(message: string, advice: string): Finding {
  return { check, status: 'failed', message, advice };
}

function withCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
