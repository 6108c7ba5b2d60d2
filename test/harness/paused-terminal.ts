// A terminal that nobody reads from, as one that is paused.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a program of Node's whose standard output is such a terminal, and answers its exit code: 137 for one that has not
 * ended after 15 s. `script` makes the terminal, and passes on what is written there until its own output is full, which
 * nobody reads; what says the code has not gone that way.
 */
export async function exitOnPausedTerminal(program: string): Promise<number> {
  // What the shell, or the program, has to say of an error would wait with the rest.
  const command = `exec 2>&4; timeout -s KILL 15 '${process.execPath}' '${program}'; echo $? >&3`;
  const terminal = spawn('script', ['--quiet', '--command', command, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe', process.stderr],
  });
  try {
    const [said] = await once(terminal.stdio[3] ?? terminal, 'data');
    return Number(said);
  } finally {
    terminal.kill('SIGKILL');
  }
}
