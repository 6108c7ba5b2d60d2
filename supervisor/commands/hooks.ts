// `bulkhead hooks …`: the hook files of an app, their log, their state and their jobs.
import { defineCommand } from 'citty';
import { readEvents } from '../remote/event-stream.ts';
import { CommandFailed } from '../remote/failure.ts';
import { hookFolder, readHookFiles } from '../remote/hook-folder.ts';
import { listMember, memberOf, textMember } from '../remote/members.ts';
import { listAll } from '../remote/pages.ts';
import { appPath } from '../remote/place.ts';
import { printable, printJson, printLine, printMembers, printNote, printTable } from '../remote/print.ts';
import { describeFault, pushHookFiles } from '../remote/push-hooks.ts';
import { type Remote, remoteCommand, wholeNumber } from './remote-command.ts';

/** Manages hooks. */
export const hooks = defineCommand({
  meta: { name: 'hooks', description: 'Push hook files, and see how they run.' },
  subCommands: {
    list: remoteCommand({
      name: 'list',
      description: 'List the hook files of an app.',
      level: 'app',
      run: async ({ client, place, json }) => {
        const files = await listAll(client, `${appPath(place)}/hooks`);
        return json ? printJson(files) : printTable(files, [
          ['FILE', 'filename'],
          ['BYTES', 'size'],
          ['CHANGED', 'updated_at'],
        ]);
      },
    }),
    push: remoteCommand({
      name: 'push',
      description: 'Send the hook files of a folder to an app. Files that are only at the server stay.',
      level: 'app',
      args: {
        folder: { type: 'positional', description: `The folder (default: ${hookFolder})`, required: false },
      },
      run: pushHooks,
    }),
    logs: remoteCommand({
      name: 'logs',
      description: 'Print the last lines of the log of the hooks, oldest first.',
      level: 'app',
      args: {
        follow: { type: 'boolean', description: 'Go on with each new line, until Ctrl-C' },
        lines: { type: 'string', description: 'How many lines, up to 200 (default: 50)' },
      },
      run: (remote) => remote.given.has('follow') ? followLog(remote) : printLog(remote),
    }),
    status: remoteCommand({
      name: 'status',
      description: 'Show what runs, and what is wrong with the files.',
      level: 'app',
      run: async ({ client, place, json }) => {
        const { body } = await client.request(`${appPath(place)}/hooks/status`);
        if (json || typeof body !== 'object' || body === null) return printJson(body);
        printMembers({ ...body, errors: undefined, files: listMember(body, 'files').length });
        for (const error of listMember(body, 'errors')) printNote(describeFault(error));
      },
    }),
    'run-job': remoteCommand({
      name: 'run-job',
      description: 'Run a job of the hooks now, and wait for its end.',
      level: 'app',
      args: { job: { type: 'positional', description: 'Its name' } },
      run: runJob,
    }),
  },
});

async function pushHooks({ client, place, given, json }: Remote): Promise<void> {
  const folder = given.text('folder') ?? hookFolder;
  const files = readHookFiles(folder);
  if (files.length === 0) throw new CommandFailed('refused', `there are no .ts or .js files in ${folder}`);
  const { pushed, faults } = await pushHookFiles(client, {
    ...{ app: appPath(place), files },
    onPushed: (filename) => json || printLine(`pushed ${filename}`),
  });
  if (json) printJson({ pushed, errors: [...faults.values()] });
  else if (pushed.length === 0) printLine('Nothing has changed.');
  if (faults.size > 0) throw new CommandFailed('refused', [...faults.keys()].join('\n'), 'hook_error');
}

async function printLog({ client, place, given, json }: Remote): Promise<void> {
  const lines = wholeNumber(given, 'lines') ?? 50;
  const query = { per_page: String(Math.min(Math.max(lines, 1), 200)) };
  const { body } = await client.request(`${appPath(place)}/hooks/logs`, { query });
  for (const entry of listMember(body, 'items').toReversed()) printEntry(entry, json);
}

async function followLog({ client, place, json }: Remote): Promise<void> {
  const { body } = await client.open(`${appPath(place)}/hooks/logs`, { query: { follow: 'true' } });
  if (body !== null) {
    for await (const { event, data } of readEvents(body)) {
      if (event === 'log') printEntry(JSON.parse(data), json);
      if (event === 'unauthorized') {
        throw new CommandFailed('unauthorized', 'the key may no longer read the log');
      }
    }
  }
  throw new CommandFailed('unavailable', `${client.url} ended the log; try again`);
}

function printEntry(entry: unknown, json: boolean): void {
  if (json) return printLine(JSON.stringify(entry));
  const { ts = '', level = '', file = '-', message = '' } = Object.fromEntries(
    ['ts', 'level', 'file', 'message'].map((name) => [name, textMember(entry, name)]),
  );
  printLine(printable(`${ts} ${level.padEnd(5)} ${file} ${message}`));
}

async function runJob({ client, place, given, json }: Remote): Promise<void> {
  const name = given.required('job');
  const path = `${appPath(place)}/hooks/jobs/${encodeURIComponent(name)}/run`;
  const { body } = await client.request(path, { method: 'POST' });
  if (json) printJson(body);
  else {printLine(
      `${name}: ${textMember(body, 'status') ?? ''} in ${String(memberOf(body, 'duration_ms'))} ms`,
    );}
  if (textMember(body, 'status') === 'failed') {
    const errors = listMember(body, 'errors').map(describeFault);
    throw new CommandFailed('refused', [`the job ${name} failed`, ...errors].join('\n'), 'hook_error');
  }
}
