// The command line: which commands there are. Each has a line here, and a file that is imported only when it is used.
import { existsSync, readFileSync } from 'node:fs';
import {
  type ArgsDef,
  type CommandDef,
  defineCommand,
  renderUsage,
  runMain,
  type SubCommandsDef,
} from 'citty';
import { StartRefused } from '../start-refused.ts';
import { runAndExit } from './run-and-exit.ts';

const program = 'bulkhead';

type Command = SubCommandsDef[string];

/** The commands, with what the help says of them, in its order. */
const commands: Readonly<Record<string, readonly [description: string, load: Command]>> = {
  init: ['Begin a project.', async () => (await import('./init.ts')).init],
  dev: [
    'Serve a project, and push its files.',
    async () => (await import('./server-commands.ts')).devCommand,
  ],
  serve: ['Run the server.', async () => (await import('./server-commands.ts')).serveCommand],
  config: ['Print the configuration in effect.', async () => (await import('./server-commands.ts')).config],
  doctor: [
    'Find what keeps a server from its work.',
    async () => (await import('./server-commands.ts')).doctorCommand,
  ],
  audit: ['Verify the audit logs.', async () => (await import('./server-commands.ts')).audit],
  ephemeral: [
    'Run a command with a server of its own.',
    async () => (await import('./ephemeral.ts')).ephemeral,
  ],
  setup: ['Set a new server up.', async () => (await import('./setup.ts')).setup],
  login: ['Sign in to a server, and keep a key.', async () => (await import('./login.ts')).login],
  whoami: ['Show who is signed in, and where.', async () => (await import('./whoami.ts')).whoami],
  logout: ['Delete the key that login made.', async () => (await import('./logout.ts')).logout],
  workspace: ['Manage workspaces.', async () => (await import('./workspace.ts')).workspace],
  app: ['Manage apps.', async () => (await import('./app.ts')).app],
  admin: ['Manage admins.', async () => (await import('./admin.ts')).admin],
  user: ['Manage end-users.', async () => (await import('./user.ts')).user],
  key: ['Manage API keys.', async () => (await import('./key.ts')).key],
  records: ['Import and export records.', async () => (await import('./records.ts')).records],
  hooks: ['Push hook files, and see how they run.', async () => (await import('./hooks.ts')).hooks],
  pull: ['Write the definition of an app into bulkhead/.', async () => (await import('./pull.ts')).pull],
  seed: ['Create the records of a file.', async () => (await import('./seed.ts')).seed],
  types: ['Write the TypeScript types of an app.', async () => (await import('./types.ts')).types],
  mail: ['Send a test mail.', async () => (await import('./server-commands.ts')).mail],
  outbox: ['Read the mails of a workspace.', async () => (await import('./outbox.ts')).outbox],
};

const main = defineCommand({
  meta: { name: program, version: readVersion(), description: 'A multi-tenant backend server.' },
  subCommands: Object.fromEntries(Object.entries(commands).map(([name, [, load]]) => [name, load])),
});

/** The program as its help shows it: no command has to be loaded for that. */
const outline = defineCommand({
  meta: { name: program, version: readVersion(), description: 'A multi-tenant backend server.' },
  subCommands: Object.fromEntries(
    Object.entries(commands).map(([name, [description]]) => [name, defineCommand({ meta: { description } })]),
  ),
});

/** Commands of two words. The library would drop flags between these. */
const groups: readonly string[] = [
  'audit',
  'workspace',
  'app',
  'admin',
  'user',
  'key',
  'records',
  'hooks',
  'mail',
];

/** Flags that need no command. */
const general: readonly string[] = ['--help', '-h', '--version', '-v'];

/** Runs the command that the process was started with; the process ends with it. */
export async function runCommandLine(): Promise<void> {
  const [first = '', second = ''] = process.argv.slice(2);
  // The library would run the command without them.
  if (isMisplaced(first) || isMisplaced(second) && groups.includes(first)) await runAndExit(refuseMisplaced);
  // The library would find `toString` and its like.
  if (first !== '' && !first.startsWith('-') && !Object.hasOwn(commands, first)) {
    await runAndExit(() => refuseUnknown(first));
  }
  await runMain(main, { rawArgs: ownArguments(process.argv.slice(2)), showUsage: showWholeUsage });
}

/** Those before two dashes. What follows belongs to another program, also its `--help`. */
function ownArguments(args: readonly string[]): string[] {
  const at = args.indexOf('--');
  return args.slice(0, at === -1 ? args.length : at);
}

function isMisplaced(argument: string): boolean {
  return argument.startsWith('-') && !general.includes(argument);
}

/** The library names a command and the one above it; those of two words have the program above them. */
async function showWholeUsage<Args extends ArgsDef>(
  command: CommandDef<Args>,
  above?: CommandDef<Args>,
): Promise<void> {
  const meta = await (typeof above?.meta === 'function' ? above.meta() : above?.meta);
  const isProgram = meta?.name === undefined || meta.name === program;
  const parent = isProgram ? above : { ...above, meta: { ...meta, name: `${program} ${meta.name}` } };
  const usage = Object.is(command, main) ? await renderUsage(outline) : await renderUsage(command, parent);
  // A list of all commands makes no readable line.
  process.stdout.write(`${usage.replace(/(?:[\w-]+\|){4,}[\w-]+/, '<command> …')}\n\n`);
}

async function refuseUnknown(name: string): Promise<never> {
  throw new StartRefused(`there is no command "${name}"; bulkhead --help lists all`);
}

async function refuseMisplaced(): Promise<never> {
  throw new StartRefused('flags come after the command, as in: bulkhead serve --http-port=8080');
}

/** The package's version, and the commit that it was built of; package.json is two folders up, and three from dist. */
function readVersion(): string {
  const find = (paths: string[]) =>
    paths.map((path) => new URL(path, import.meta.url)).find((file) => existsSync(file));
  const file = find(['../../package.json', '../../../package.json']);
  if (file === undefined) return 'unknown';
  const { version }: { version?: unknown } = JSON.parse(readFileSync(file, 'utf8'));
  const commit = find(['../../commit']);
  return commit === undefined ? String(version) : `${version} (${readFileSync(commit, 'utf8').trim()})`;
}
