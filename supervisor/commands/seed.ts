// `bulkhead seed`: creates the records of a file, by collection.
import { readFileSync } from 'node:fs';
import { messageOf } from '../errors.ts';
import { CommandFailed } from '../remote/failure.ts';
import { isMembers, memberOf } from '../remote/members.ts';
import { appPath } from '../remote/place.ts';
import { printable, printJson, printLine } from '../remote/print.ts';
import { type Remote, remoteCommand } from './remote-command.ts';

/** Seeds an app. */
export const seed = remoteCommand({
  name: 'seed',
  description: 'Create the records of a file: a JSON object with an array of records for each collection.',
  level: 'app',
  args: { file: { type: 'positional', description: 'The file' } },
  run: seedRecords,
});

/** In the order of the file, so that records can name those before them. */
async function seedRecords({ client, place, given, json }: Remote): Promise<void> {
  const created: Record<string, number> = {};
  for (const [collection, records] of readSeed(given.required('file'))) {
    const path = `${appPath(place)}/collections/${encodeURIComponent(collection)}/records/import`;
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    const { body } = await client.request(path, {
      method: 'POST',
      stream: new Blob([lines]).stream(),
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    created[collection] = Number(memberOf(body, 'created') ?? 0);
    if (!json) printLine(printable(`${collection}: ${created[collection]} created`));
  }
  if (json) printJson({ created });
}

function readSeed(file: string): (readonly [collection: string, records: readonly unknown[]])[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isMembers(value)) throw new Error('it must be a JSON object');
    return Object.entries(value).map(([collection, records]) => {
      if (!Array.isArray(records)) throw new Error(`"${collection}" must be an array of records`);
      return [collection, records];
    });
  } catch (error) {
    throw new CommandFailed('refused', `${file} cannot be read: ${messageOf(error)}`);
  }
}
