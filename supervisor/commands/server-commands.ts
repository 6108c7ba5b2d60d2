// The commands that run or inspect a server on this machine, by its configuration.
import { type ArgsDef, defineCommand } from 'citty';
import type { ResolvedConfig } from '../config.ts';
import type { CommandFlags, ParsedFlags } from '../flags.ts';
import { runAndExit } from './run-and-exit.ts';

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
    runAndExit(async () => {
      const { config, own, json } = await resolve(rawArgs, verifyFlags);
      const { readVerifyOptions, verifyAudit } = await import('./audit.ts');
      const isSound = await verifyAudit(config, { ...readVerifyOptions(own), json });
      if (!isSound) process.exitCode = 1;
    }),
});

/** Verifies audit logs. */
export const audit = defineCommand({
  meta: { name: 'audit', description: 'Verify the audit logs.' },
  subCommands: { verify },
});

/** Sets a new password of the master admin. */
export const password = defineCommand({
  meta: {
    name: 'password',
    description: 'Set and print a new password of the master admin, and end all its sessions.',
  },
  args: { ...commonFlags, json: { type: 'boolean', description: 'Print JSON' } },
  run: ({ rawArgs }) =>
    runAndExit(async () => {
      const { config, json } = await resolve(rawArgs);
      const { resetMasterPassword } = await import('./admin-password.ts');
      await resetMasterPassword(config, json);
    }),
});

/** Runs the server. */
export const serveCommand = defineCommand({
  meta: { name: 'serve', description: 'Run the server.' },
  args: commonFlags,
  run: ({ rawArgs }) =>
    runAndExit(async () => {
      const { config } = await resolve(rawArgs);
      const { serve } = await import('./serve.ts');
      const { stopSignals } = await import('./stop-signals.ts');
      await serve(config, stopSignals());
    }),
});

/** Serves a project, and pushes its files. */
export const devCommand = defineCommand({
  meta: {
    name: 'dev',
    description: 'Serve the project in this folder, and push its files when they are saved.',
  },
  args: commonFlags,
  run: ({ rawArgs }) =>
    runAndExit(async () => {
      const resolved = await resolve(rawArgs);
      const { develop } = await import('./dev.ts');
      const { stopSignals } = await import('./stop-signals.ts');
      await develop(resolved, stopSignals());
    }),
});

/** Prints the configuration. */
export const config = defineCommand({
  meta: {
    name: 'config',
    description: 'Print the configuration in effect and where each value comes from.',
  },
  args: { ...commonFlags, json: { type: 'boolean', description: 'Print JSON' } },
  run: ({ rawArgs }) =>
    runAndExit(async () => {
      const resolved = await resolve(rawArgs);
      const { describeConfig, describeConfigAsJson } = await import('./config.ts');
      const describe = resolved.json ? describeConfigAsJson : describeConfig;
      process.stdout.write(describe(resolved));
    }),
});

/** Examines the machine and the configuration. */
export const doctorCommand = defineCommand({
  meta: {
    name: 'doctor',
    description: 'Check all that a server of this configuration needs, and say what to do.',
  },
  args: { ...commonFlags, json: { type: 'boolean', description: 'Print JSON' } },
  run: ({ rawArgs }) =>
    runAndExit(async () => {
      const { StartRefused } = await import('../start-refused.ts');
      const resolved = await resolve(rawArgs).catch((error: unknown) => {
        if (!(error instanceof StartRefused) || error.message.endsWith('(command line)')) throw error;
        return { problem: error.message, json: rawArgs.includes('--json') };
      });
      const { doctor } = await import('./doctor.ts');
      if (!await doctor(resolved, resolved.json)) process.exitCode = 1;
    }),
});

const mailTest = defineCommand({
  meta: { name: 'test', description: 'Send a test mail with the settings of this machine.' },
  args: {
    address: { type: 'positional', description: 'Where it goes' },
    ...commonFlags,
    json: { type: 'boolean', description: 'Print JSON' },
  },
  run: ({ rawArgs }) =>
    runAndExit(async () => {
      const { config, own, json } = await resolve(rawArgs, {}, ['address']);
      const { testMail } = await import('./mail.ts');
      await testMail(config, own('address') ?? '', json);
    }, { json: rawArgs.includes('--json') }),
});

/** Tries the sending of mail. */
export const mail = defineCommand({
  meta: { name: 'mail', description: 'Send a test mail.' },
  subCommands: { test: mailTest },
});

async function resolve(
  rawArgs: readonly string[],
  own: CommandFlags = {},
  names: readonly string[] = [],
): Promise<ResolvedConfig & Omit<ParsedFlags, 'flags'>> {
  const cwd = process.cwd();
  const { readFlags } = await import('../flags.ts');
  const { flags, ...given } = readFlags(rawArgs, own, names);
  const terminal = process.stdout.isTTY === true;
  const { environment, loadConfigFile, resolveConfig } = await import('../config.ts');
  const file = await loadConfigFile(cwd);
  return { ...resolveConfig({ file, env: environment(), flags, cwd, terminal }), ...given };
}
