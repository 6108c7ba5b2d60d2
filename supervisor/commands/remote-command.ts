// A command that calls a server: its flags, the place where it works, and its output.
import { parseArgs } from 'node:util';
import { type ArgsDef, type CommandDef, defineCommand } from 'citty';
import { messageOf } from '../errors.ts';
import { RemoteClient } from '../remote/client.ts';
import { CommandFailed } from '../remote/failure.ts';
import { type Place, resolvePlace } from '../remote/place.ts';
import { runAndExit } from './run-and-exit.ts';

/** What a command gets. */
export interface Remote {
  place: Place;
  client: RemoteClient;
  given: GivenArguments;
  /** True when a program reads the output. */
  json: boolean;
}

/** The arguments of a command. */
export interface GivenArguments {
  /** The value of a flag or of a named argument; undefined when it is not given. */
  text(name: string): string | undefined;
  /** The value of a named argument that the library has already asked for. */
  required(name: string): string;
  /** True for a flag without a value that is given. */
  has(name: string): boolean;
}

/** How deep in the server a command works: it takes flags down to there. */
export type CommandLevel = 'none' | 'server' | 'workspace' | 'app';

interface RemoteCommand {
  name: string;
  description: string;
  level: CommandLevel;
  args?: ArgsDef;
  run: (remote: Remote) => Promise<void>;
}

const urlFlag = {
  url: { type: 'string', description: 'The server (BULKHEAD_URL; default: where you signed in last)' },
} satisfies ArgsDef;
const workspaceFlag = {
  workspace: { type: 'string', description: 'The workspace (BULKHEAD_WORKSPACE)' },
} satisfies ArgsDef;
const appFlag = { app: { type: 'string', description: 'The app (BULKHEAD_APP)' } } satisfies ArgsDef;
const jsonFlag = { json: { type: 'boolean', description: 'Print JSON' } } satisfies ArgsDef;

const placeFlags: Readonly<Record<CommandLevel, ArgsDef>> = {
  none: {},
  server: urlFlag,
  workspace: { ...workspaceFlag, ...urlFlag },
  app: { ...appFlag, ...workspaceFlag, ...urlFlag },
};

/** Defines a command that calls a server. */
export function remoteCommand({ name, description, level, args = {}, run }: RemoteCommand): CommandDef {
  const all: ArgsDef = { ...args, ...placeFlags[level], ...jsonFlag };
  return defineCommand({
    meta: { name, description },
    args: all,
    run: ({ rawArgs }) =>
      runAndExit(async () => {
        const given = readArguments(rawArgs, all);
        const [url, workspace, app] = ['url', 'workspace', 'app'].map((flag) => given.text(flag));
        const place = resolvePlace({ url, workspace, app });
        const client = new RemoteClient(place.url, place.token);
        await run({ place, client, given, json: given.has('json') });
      }, { json: rawArgs.includes('--json') }),
  });
}

/** Parses strictly, which the library does not: a flag that does not exist would be lost. Throws `CommandFailed`. */
function readArguments(rawArgs: readonly string[], args: ArgsDef): GivenArguments {
  const entries = Object.entries(args);
  const names = entries.filter(([, { type }]) => type === 'positional').map(([name]) => name);
  const options = Object.fromEntries(
    entries.filter(([name]) => !names.includes(name))
      .map(([name, { type }]) => [name, { type: type === 'boolean' ? 'boolean' : 'string' } as const]),
  );
  const { values, positionals } = parse([...rawArgs], options);
  if (positionals.length > names.length) {
    throw new CommandFailed('refused', `unexpected argument "${positionals[names.length]}"`);
  }
  const text = (name: string) => {
    const value = names.includes(name) ? positionals[names.indexOf(name)] : values[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    text,
    required: (name) => {
      const value = text(name);
      if (value === undefined) throw new CommandFailed('refused', `${name} is missing`);
      return value;
    },
    has: (name) => values[name] === true,
  };
}

function parse(
  args: string[],
  options: Readonly<Record<string, { type: 'string' | 'boolean' }>>,
): { values: Record<string, unknown>; positionals: string[] } {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new CommandFailed('refused', `${messageOf(error).split('. ')[0]} (command line)`);
  }
}

/** The number of a flag. Throws `CommandFailed`. */
export function wholeNumber(given: GivenArguments, name: string): number | undefined {
  const text = given.text(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) {
    throw new CommandFailed('refused', `--${name} must be a whole number, not ${text}`);
  }
  return Number(text);
}
