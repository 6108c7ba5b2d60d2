// The command that a throw-away server runs for.
import { constants } from 'node:os';
import { signalGroup, spawn } from '../spawn.ts';

/** A command and the environment that it gets. */
export interface CommandToRun {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs the command in a process group of its own, with this process's input and output, and returns its exit code; 128 and
 * the number of the signal where one ended it. Signals to this process are passed on to the group. What is left of the group
 * is ended with the command, and the whole group with this process.
 */
export async function runCommand(command: CommandToRun): Promise<number> {
  // Before it runs: somebody who sees its first output may send a signal at once.
  const pass = (signal: NodeJS.Signals) => signalGroup(running.pid, signal);
  for (const signal of forwarded) process.on(signal, pass);
  const running = spawn({ ...command, stdin: 'inherit', orphanSignal: 'KILL' });
  const { code, signal } = await running.exited;
  for (const name of forwarded) process.off(name, pass);
  return signal === null ? code ?? 1 : 128 + constants.signals[signal];
}
