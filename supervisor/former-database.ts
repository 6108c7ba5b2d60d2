// Whether a data directory has served before: a server whose database is gone must not begin anew, open to whoever sets it up.
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
 * Throws `StartRefused` when the data directory has served and has no database now: its disk is not mounted, or the setting
 * that names an external one was lost. Says which database is not used where there are two.
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

/** Remembers that the server has begun to serve. */
export async function markServed({ data_dir }: Config, output: Output): Promise<void> {
  const mark = servedMark(data_dir);
  if (existsSync(mark)) return;
  await writeFile(mark, '', { mode: 0o600 }).catch((error: unknown) =>
    output.log('warn', `${mark} cannot be written: ${messageOf(error)}`)
  );
}
