// Detects a data directory whose database is missing. A server must not start with an empty one, which anyone could set up.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from './errors.ts';
import type { Output } from './output.ts';
import { clusterFolder } from './postgres/cluster.ts';
import type { Config } from './protocol.ts';
import { StartRefused } from './start-refused.ts';

const servedMark = (dataDir: string) => join(dataDir, 'served');

/**
 * Throws `StartRefused` when the data directory was in use and has no database now: its disk is not mounted, or the setting
 * of an external database was lost. Warns when there are two databases and one is not used.
 */
export function checkFormerDatabase({ data_dir, database }: Config, output: Output): void {
  const embedded = clusterFolder(data_dir);
  if (database.url !== '') {
    if (existsSync(embedded)) {
      output.log('warn', `${embedded} is not used: database.url names another database`);
    }
    return;
  }
  if (existsSync(embedded) || !existsSync(servedMark(data_dir))) return;
  throw new StartRefused(
    `data_dir ${data_dir} was in use, and its database is gone: set database.url if the server had one, else restore ` +
      `${embedded}; to start over, remove ${data_dir}`,
  );
}

/** Marks the data directory as in use. */
export async function markServed({ data_dir }: Config, output: Output): Promise<void> {
  const mark = servedMark(data_dir);
  if (existsSync(mark)) return;
  await writeFile(mark, '', { mode: 0o600 }).catch((error: unknown) =>
    output.log('warn', `${mark} cannot be written: ${messageOf(error)}`)
  );
}
