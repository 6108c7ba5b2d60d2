// A user of the command line: a folder to work in, and a configuration directory of their own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bulkhead } from './command.ts';

/** What a command printed, and how it ended. */
export interface CommandResult {
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
}

/** A user of the command line. */
export interface CommandUser {
  folder: string;
  /** Runs a command, with variables besides the user's own. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandResult>;
  /** Runs a command that must succeed, and returns what it printed as JSON. */
  // deno-lint-ignore no-explicit-any
  json(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<any>;
  remove(): Promise<void>;
}

/** Makes a user in an empty folder, who has not signed in anywhere. */
export async function makeCommandUser(env: Readonly<Record<string, string>> = {}): Promise<CommandUser> {
  const folder = await mkdtemp(join(tmpdir(), 'bulkhead-user-'));
  const own = { XDG_CONFIG_HOME: join(folder, '.config'), NO_COLOR: '1', ...env };
  const run: CommandUser['run'] = (args, more = {}) =>
    bulkhead(args, { cwd: folder, env: { ...own, ...more } });
  return {
    folder,
    run,
    json: async (args, more) => {
      const { exitCode, stdout, stderr } = await run([...args, '--json'], more);
      if (exitCode !== 0) throw new Error(`bulkhead ${args.join(' ')}: ${exitCode}: ${stderr}`);
      return JSON.parse(stdout);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
