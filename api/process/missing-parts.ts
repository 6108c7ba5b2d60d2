// What this installation lacks, and works without: logged as the server starts, so that an operator knows.
import { offersTrigrams } from '../../storage/app/search/index-of-words.ts';
import { unpatchedFiles } from '../../storage/connections/driver/driver.ts';
import { limitsTempFiles } from '../../storage/provision/database-limits.ts';
import type { Deps } from '../deps.ts';

/** Logs what the installed driver and the PostgreSQL server do not offer. Throws `StorageError`. */
export async function logMissingParts(
  { databases, observe }: Pick<Deps, 'databases' | 'observe'>,
): Promise<void> {
  if (unpatchedFiles.length > 0) observe({ type: 'driver_unpatched', files: unpatchedFiles });
  if (!await databases.control.run(limitsTempFiles)) observe({ type: 'temp_files_unbounded' });
  if (!await databases.control.run(offersTrigrams)) observe({ type: 'search_without_trigrams' });
}
