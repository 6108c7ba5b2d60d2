// `bulkhead init`: begins a project. What is there already stays as it is.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { projectFiles } from '../dev/project-files.ts';
import { messageOf } from '../errors.ts';
import { CommandFailed } from '../remote/failure.ts';
import { printJson, printLine } from '../remote/print.ts';
import { remoteCommand } from './remote-command.ts';

const id = /^[a-z][a-z0-9-]{0,30}$/;

/** Begins a project. */
export const init = remoteCommand({
  name: 'init',
  description:
    'Begin a project in a folder: settings, a first collection, a first hook file. Nothing is overwritten.',
  level: 'none',
  args: {
    folder: { type: 'positional', description: 'The folder (default: this one)', required: false },
    workspace: { type: 'string', description: 'The workspace of the app (default: dev)' },
    app: { type: 'string', description: 'The app (default: the name of the folder)' },
  },
  run: async ({ given, json }) => {
    const name = given.text('folder') ?? '.';
    const folder = resolve(name);
    const workspace = readId(given.text('workspace') ?? 'dev', '--workspace');
    const app = readId(given.text('app') ?? idOf(basename(folder)), '--app');
    const wrote: string[] = [];
    const kept: string[] = [];
    for (const { path, text } of projectFiles({ workspace, app })) {
      (writeNew(folder, path, text) ? wrote : kept).push(path);
    }
    if (json) return printJson({ folder, workspace, app, wrote, kept });
    for (const path of wrote) printLine(`wrote ${path}`);
    for (const path of kept) printLine(`kept  ${path}, which is there already`);
    const enter = name === '.' ? '' : `cd ${name} && `;
    printLine(`\nNow run: ${enter}npx bulkhead dev`);
  },
});

function readId(text: string, flag: string): string {
  if (id.test(text)) return text;
  throw new CommandFailed(
    'refused',
    `${flag} must be a small letter and then letters, digits or -, not "${text}"`,
  );
}

function idOf(name: string): string {
  const cleaned = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+/, '').slice(0, 30);
  return cleaned.replace(/-+$/, '') || 'app';
}

/** True when the file was not there. A configuration file of another kind counts as one. */
function writeNew(folder: string, path: string, text: string): boolean {
  const file = join(folder, path);
  try {
    mkdirSync(dirname(file), { recursive: true });
    const isConfig = path.startsWith('bulkhead.config.');
    if (isConfig && readdirSync(folder).some((name) => name.startsWith('bulkhead.config.'))) return false;
    if (existsSync(file)) return false;
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    throw new CommandFailed('refused', `${file} cannot be written: ${messageOf(error)}`);
  }
}
