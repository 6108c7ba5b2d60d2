// `bulkhead types`: writes the TypeScript module of an app into a project.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { messageOf } from '../errors.ts';
import { CommandFailed } from '../remote/failure.ts';
import { appPath } from '../remote/place.ts';
import { printJson, printLine } from '../remote/print.ts';
import { type Remote, remoteCommand } from './remote-command.ts';

const defaultFile = 'bulkhead.types.ts';

/** Writes types. */
export const types = remoteCommand({
  name: 'types',
  description: 'Write the TypeScript types of an app’s records and routes to a file.',
  level: 'app',
  args: {
    file: {
      type: 'positional',
      description: `The file, or - for standard output (default: ${defaultFile})`,
      required: false,
    },
    check: { type: 'boolean', description: 'Write nothing, and fail if the file is not up to date' },
  },
  run: writeTypes,
});

async function writeTypes({ client, place, given, json }: Remote): Promise<void> {
  const { body } = await client.request(`${appPath(place)}/types.d.ts`, { query: { for: 'client' } });
  if (typeof body !== 'string') throw new CommandFailed('refused', `${place.url} is no Bulkhead server`);
  const file = given.text('file') ?? defaultFile;
  if (file === '-') {
    process.stdout.write(body);
    return;
  }
  const isCurrent = readIfThere(file) === body;
  if (given.has('check')) {
    if (!isCurrent) throw new CommandFailed('refused', `${file} is not up to date: run bulkhead types`);
  } else if (!isCurrent) write(file, body);
  if (json) printJson({ file, changed: !isCurrent });
  else printLine(isCurrent ? `${file} is up to date` : `wrote ${file}`);
}

function readIfThere(file: string): string | undefined {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  } catch (error) {
    throw new CommandFailed('refused', `${file} cannot be read: ${messageOf(error)}`);
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new CommandFailed('refused', `${file} cannot be written: ${messageOf(error)}`);
  }
}
