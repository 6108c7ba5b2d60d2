// The command line: which commands there are, and how they end.
import { existsSync, readFileSync } from 'node:fs';
import { type ArgsDef, type CommandDef, defineCommand, runMain, showUsage } from 'citty';
import type { ResolvedConfig } from '../config.ts';
import type { CommandFlags, ParsedFlags } from '../flags.ts';
import { StartRefused } from '../start-refused.ts';
import type { StopSignals } from './serve.ts';

// A command imports what it needs when it runs: `--version` and `--help` need next to nothing.

const program = 'bulkhead';

const commonFlags = {
  'data-dir': { type: 'string', description: 'Directory of everything that the server stores (data_dir)' },
  'http-host': { type: 'string', description: 'Address to listen on (http.host)' },
  'http-port': { type: 'string', description: 'Port to listen on (http.port)' },
  set: { type: 'string', description: 'Any setting, as key=value. Every setting also has a flag of its own' },
} satisfies ArgsDef;

const verifyFlags = {
  workspace: { type: 'string', description: 'Verify only the log of this workspace' },
  system: { type: 'boolean', description: 'Verify only the log of the system' },
  head: { type: 'string', description: 'A head that was printed earlier, which the log must still contain' },
} satisfies ArgsDef;

const verify = defineCommand({
  meta: { name: 'verify', description: 'Verify that the audit logs have not been changed.' },
  args: {
    ...commonFlags,
    ...verifyFlags,
    json: { type: 'boolean', description: 'Print one line of JSON a log' },
  },
  run: ({ rawArgs }) =>
    orOneLine(async () => {
      const { config, own, json } = await resolve(rawArgs, verifyFlags);
      const { readVerifyOptions, verifyAudit } = await import('./audit.ts');
      const isSound = await verifyAudit(config, { ...readVerifyOptions(own), json });
      if (!isSound) process.exitCode = 1;
    }),
});

const password = defineCommand({
  meta: {
    name: 'password',
    description: 'Set and print a new password of the master admin, and end all its sessions.',
  },
  args: { ...commonFlags, json: { type: 'boolean', description: 'Print JSON' } },
  run: ({ rawArgs }) =>
    orOneLine(async () => {
      const { config, json } = await resolve(rawArgs);
      const { resetMasterPassword } = await import('./admin.ts');
      await resetMasterPassword(config, json);
    }),
});

const main = defineCommand({
  meta: { name: program, version: readVersion(), description: 'A multi-tenant backend server.' },
  subCommands: {
    serve: defineCommand({
      meta: { name: 'serve', description: 'Run the server.' },
      args: commonFlags,
      run: ({ rawArgs }) =>
        orOneLine(async () => {
          const { config } = await resolve(rawArgs);
          const { serve } = await import('./serve.ts');
          await serve(config, stopSignals());
        }),
    }),
    config: defineCommand({
      meta: {
        name: 'config',
        description: 'Print the configuration in effect and where each value comes from.',
      },
      args: { ...commonFlags, json: { type: 'boolean', description: 'Print JSON' } },
      run: ({ rawArgs }) =>
        orOneLine(async () => {
          const resolved = await resolve(rawArgs);
          const { describeConfig, describeConfigAsJson } = await import('./config.ts');
          const describe = resolved.json ? describeConfigAsJson : describeConfig;
          process.stdout.write(describe(resolved));
        }),
    }),
    admin: defineCommand({
      meta: { name: 'admin', description: 'Manage the master admin.' },
      subCommands: { password },
    }),
    audit: defineCommand({
      meta: { name: 'audit', description: 'Verify the audit logs.' },
      subCommands: { verify },
    }),
  },
});

/** Flags that need no command. */
const general: readonly string[] = ['--help', '-h', '--version', '-v'];

/** Runs the command that the process was started with; the process ends with it. */
export async function runCommandLine(): Promise<void> {
  const [first = ''] = process.argv.slice(2);
  // The library would run the command without them.
  if (first.startsWith('-') && !general.includes(first)) await orOneLine(refuseMisplaced);
  await runMain(main, { showUsage: showWholeUsage });
}

/** The library names a command and the one above it; those of two words have the program above them. */
async function showWholeUsage<Args extends ArgsDef>(
  command: CommandDef<Args>,
  above?: CommandDef<Args>,
): Promise<void> {
  const meta = await (typeof above?.meta === 'function' ? above.meta() : above?.meta);
  const isProgram = meta?.name === undefined || meta.name === program;
  await showUsage(
    command,
    isProgram ? above : { ...above, meta: { ...meta, name: `${program} ${meta.name}` } },
  );
}

async function refuseMisplaced(): Promise<never> {
  throw new StartRefused('flags come after the command, as in: bulkhead serve --http-port=8080');
}

async function resolve(
  rawArgs: readonly string[],
  own: CommandFlags = {},
): Promise<ResolvedConfig & Omit<ParsedFlags, 'flags'>> {
  const cwd = process.cwd();
  const { readFlags } = await import('../flags.ts');
  const { flags, ...given } = readFlags(rawArgs, own);
  const terminal = process.stdout.isTTY === true;
  const { environment, loadConfigFile, resolveConfig } = await import('../config.ts');
  const file = await loadConfigFile(cwd);
  return { ...resolveConfig({ file, env: environment(), flags, cwd, terminal }), ...given };
}

/** An operator's mistake is one line and exit code 1; anything else is a defect of ours and shows its stack. */
async function orOneLine(work: () => Promise<void>): Promise<void> {
  try {
    await work();
    process.exit();
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    process.stderr.write(`bulkhead: ${error.message}\n`);
    process.exit(1);
  }
}

/** One Ctrl-C often arrives twice, from the terminal and from npm: only a later one means impatience. */
const sameRequestMs = 1_000;

function stopSignals(): StopSignals {
  const stop = new AbortController();
  const hurry = new AbortController();
  let asked = Infinity;
  const onSignal = () => {
    if (performance.now() - asked > sameRequestMs) hurry.abort();
    if (!stop.signal.aborted) asked = performance.now();
    stop.abort();
  };
  // SIGHUP comes from a terminal that is closed.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, onSignal);
  return { stop: stop.signal, kill: hurry.signal };
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
