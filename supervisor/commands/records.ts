// `bulkhead records import` and `export`: files of records, streamed both ways.
import { createReadStream, createWriteStream, renameSync, rmSync, statSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { defineCommand } from 'citty';
import { messageOf } from '../errors.ts';
import { CommandFailed } from '../remote/failure.ts';
import { listMember, memberOf, textMember } from '../remote/members.ts';
import { appPath } from '../remote/place.ts';
import { printable, printJson, printLine, printNote } from '../remote/print.ts';
import { countBytes, showProgress } from '../remote/progress.ts';
import { type GivenArguments, type Remote, remoteCommand } from './remote-command.ts';

const types: Readonly<Record<string, string>> = { ndjson: 'application/x-ndjson', csv: 'text/csv' };

const formatFlag = {
  format: { type: 'string', description: 'ndjson or csv (default: by the name of the file, else ndjson)' },
} as const;
const collectionArgument = { collection: { type: 'positional', description: 'The collection' } } as const;

const importFile = remoteCommand({
  name: 'import',
  description: 'Create the records of a file, or of standard input: all of them or none.',
  level: 'app',
  args: {
    ...collectionArgument,
    file: { type: 'positional', description: 'The file; - or nothing for standard input', required: false },
    ...formatFlag,
    'skip-errors': { type: 'boolean', description: 'Leave wrong lines out, and import the others' },
    'dry-run': { type: 'boolean', description: 'Check everything, and store nothing' },
  },
  run: importRecords,
});

const exportFile = remoteCommand({
  name: 'export',
  description: 'Write the records of a collection to a file, or to standard output.',
  level: 'app',
  args: {
    ...collectionArgument,
    file: { type: 'positional', description: 'The file; - or nothing for standard output', required: false },
    ...formatFlag,
    filter: { type: 'string', description: 'Only records that pass it, as in "total > 2"' },
    fields: { type: 'string', description: 'Only these fields, as in title,total' },
  },
  run: exportRecords,
});

/** Imports and exports records. */
export const records = defineCommand({
  meta: { name: 'records', description: 'Import and export the records of a collection.' },
  subCommands: { import: importFile, export: exportFile },
});

async function importRecords({ client, place, given, json }: Remote): Promise<void> {
  const path = `${collectionPath(place, given)}/import`;
  const file = fileOf(given);
  const total = file === undefined ? undefined : sizeOf(file);
  const progress = showProgress('importing', total);
  const source: ReadableStream<Uint8Array> = Readable.toWeb(
    file === undefined ? process.stdin : createReadStream(file),
  );
  try {
    const { body } = await client.request(path, {
      method: 'POST',
      stream: source.pipeThrough(countBytes(progress)),
      headers: { 'Content-Type': types[formatOf(given)] ?? '' },
      query: {
        on_error: given.has('skip-errors') ? 'skip' : undefined,
        dry_run: given.has('dry-run') ? 'true' : undefined,
      },
    });
    progress.end();
    return json ? printJson(body) : describeReport(body, given.has('dry-run'));
  } finally {
    progress.end();
  }
}

function describeReport(report: unknown, isDry: boolean): void {
  for (const error of listMember(report, 'errors')) {
    printNote(printable(`${textMember(error, 'path') ?? ''} ${textMember(error, 'message') ?? ''}`));
  }
  const [created, skipped] = ['created', 'skipped'].map((name) => Number(memberOf(report, name) ?? 0));
  const left = skipped === 0 ? '' : `, ${skipped} left out`;
  printLine(`${created} ${isDry ? 'would be created' : 'created'}${left}`);
}

async function exportRecords({ client, place, given }: Remote): Promise<void> {
  const file = fileOf(given);
  const { body } = await client.open(`${collectionPath(place, given)}/export`, {
    query: { format: formatOf(given), filter: given.text('filter'), fields: given.text('fields') },
  });
  if (body === null) throw new CommandFailed('unavailable', 'the server sent no records');
  const progress = file === undefined ? undefined : showProgress('exporting', undefined);
  // A file that is there stays until the new one is complete.
  const part = file === undefined ? undefined : `${file}.part`;
  const sink = Writable.toWeb(part === undefined ? process.stdout : createWriteStream(part));
  try {
    const counted = progress === undefined ? body : body.pipeThrough(countBytes(progress));
    await counted.pipeTo(sink, { preventClose: part === undefined });
    if (part !== undefined && file !== undefined) renameSync(part, file);
  } catch (error) {
    if (part !== undefined) rmSync(part, { force: true });
    throw new CommandFailed('unavailable', `the export broke off, and is not complete: ${messageOf(error)}`);
  } finally {
    progress?.end();
  }
}

function collectionPath(place: Remote['place'], given: GivenArguments): string {
  return `${appPath(place)}/collections/${encodeURIComponent(given.required('collection'))}/records`;
}

function fileOf(given: GivenArguments): string | undefined {
  const file = given.text('file');
  return file === '-' ? undefined : file;
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw new CommandFailed('refused', `${file} cannot be read: ${messageOf(error)}`);
  }
}

function formatOf(given: GivenArguments): string {
  const format = given.text('format') ?? (/\.csv$/i.test(fileOf(given) ?? '') ? 'csv' : 'ndjson');
  if (types[format] === undefined) {
    throw new CommandFailed('refused', `--format is ndjson or csv, not ${format}`);
  }
  return format;
}
