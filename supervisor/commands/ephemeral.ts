// `bulkhead ephemeral`: a server of its own for one command.
import { defineCommand } from 'citty';
import { runAndExit } from './run-and-exit.ts';

const flags = {
  app: { type: 'string', description: 'The id of the app (default: app)' },
  log: { type: 'string', description: "Keep the server's log in this file" },
} as const;

/** Runs a command beside a server that is there for it alone. */
export const ephemeral = defineCommand({
  meta: {
    name: 'ephemeral',
    description:
      'Run a command with a new, empty server, which is gone afterwards: bulkhead ephemeral -- npm test',
  },
  args: {
    ...flags,
    set: { type: 'string', description: 'A setting of the server, as key=value' },
  },
  run: ({ rawArgs }) =>
    runAndExit(async () => {
      const { readFlags } = await import('../flags.ts');
      const { flags: settings, own } = readFlags(rawArgs, {
        app: { type: 'string' },
        log: { type: 'string' },
      });
      const { runEphemeral } = await import('../ephemeral/run.ts');
      process.exitCode = await runEphemeral({
        settings,
        app: own('app') ?? 'app',
        log: own('log'),
        command: argumentsAfterDashes(process.argv),
      });
    }),
});

function argumentsAfterDashes(argv: readonly string[]): string[] {
  const at = argv.indexOf('--');
  return at === -1 ? [] : argv.slice(at + 1);
}
