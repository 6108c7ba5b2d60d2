// `bulkhead doctor`: what the server connects to. A program of the API tries it, as only that has the clients.
import { runProgram } from '../commands/beside-server.ts';
import { parseDatabaseUrl } from '../database-url.ts';
import { messageOf } from '../errors.ts';
import { derivePassword } from '../master-key.ts';
import { provisionerName } from '../postgres/cluster.ts';
import { accessBy } from '../postgres/postgres.ts';
import { findSocketDirectory } from '../postgres/socket.ts';
import type { Config, DatabaseAccess } from '../protocol.ts';
import { failed } from './finding.ts';
import type { Finding, ServicesStart } from './protocol.ts';

/** Tries the database, the mail server and the bucket, and compares their clocks with ours. */
export async function checkServices(
  config: Config,
  { key, isServing }: { key: Buffer | null; isServing: boolean },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    const database = await databaseOf(config, isServing ? key : null);
    const { mail, storage } = config;
    await runProgram<ServicesStart, Finding>(
      'doctor/services',
      { database, masterKey: key?.toString('base64') ?? null, mail, storage },
      (finding) => findings.push(finding),
    );
  } catch (error) {
    findings.push(failed('services', messageOf(error), 'run this as the user that the server runs as'));
  }
  return findings;
}

/** An embedded database can be tried while the server runs. */
async function databaseOf(
  { database, data_dir }: Config,
  key: Buffer | null,
): Promise<DatabaseAccess | null> {
  if (database.url !== '') return parseDatabaseUrl(database.url);
  if (key === null) return null;
  return accessBy(await findSocketDirectory(data_dir), derivePassword(key, provisionerName));
}
