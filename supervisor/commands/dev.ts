// `bulkhead dev`: serves a project on this machine, and sends its files to its app whenever they are saved.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ResolvedConfig } from '../config.ts';
import { ProjectApp, setUpForDevelopment } from '../dev/project.ts';
import { watchProject } from '../dev/watch.ts';
import { messageOf } from '../errors.ts';
import type { Config } from '../protocol.ts';
import { CommandFailed } from '../remote/failure.ts';
import { printLine, printNote } from '../remote/print.ts';
import { serve, type Started, type StopSignals } from './serve.ts';

/** Serves until it is told to stop. Throws `StartRefused`, or `CommandFailed` where there is no project. */
export async function develop(resolved: ResolvedConfig, signals: StopSignals): Promise<void> {
  if (!existsSync('bulkhead')) {
    throw new CommandFailed(
      'refused',
      'there is no folder "bulkhead" here: begin a project with bulkhead init',
    );
  }
  const config = forDevelopment(resolved);
  const onStarted = (started: Started) => {
    void whileServing(config, started, signals.stop).catch((error: unknown) => {
      if (!signals.stop.aborted) printNote(`bulkhead: ${messageOf(error)}`);
    });
  };
  await serve(config, signals, { onStarted });
}

/** What nobody has set is as developers want it: a log for people, and hooks that reach other servers of this machine. */
function forDevelopment({ config, effective }: ResolvedConfig): Config {
  const isUnset = (key: string) => effective.get(key)?.source === 'default';
  return {
    ...config,
    ...isUnset('log.format') && { log: { ...config.log, format: 'pretty' } },
    ...isUnset('egress.private_hosts') && { egress: { private_hosts: 'loopback' } },
  };
}

async function whileServing(config: Config, { url, initialized }: Started, stop: AbortSignal): Promise<void> {
  const password = initialized ? undefined : await setUpForDevelopment(url);
  const app = new ProjectApp(url);
  await app.make();
  const close = await watchProject(() => app.push());
  stop.addEventListener('abort', () => void close(), { once: true });
  await app.push();
  announce(config, { url, app, password });
}

function announce(
  { data_dir, mail }: Config,
  { url, app, password }: { url: string; app: ProjectApp; password: string | undefined },
): void {
  const lines: [string, string][] = [['Server', url], ['API', app.api], ['Pages', app.origin]];
  if (password !== undefined) {
    lines.push(['Password', `${password}, of the master admin "admin"; it is kept nowhere`]);
  }
  if (mail.transport === 'outbox') lines.push(['Outbox', `${join(data_dir, 'outbox')}, or bulkhead outbox`]);
  printLine('');
  for (const [name, value] of lines) printLine(`  ${name.padEnd(10)}${value}`);
  printLine('\nSave a file in bulkhead/, and it is in effect. Ctrl-C ends the server.\n');
}
