// Asks on the terminal: for a line, and for a password that is not shown.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { text as readText } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { environment } from '../config.ts';
import { CommandFailed } from './failure.ts';

/** True when somebody can be asked. */
export function canAsk(): boolean {
  // To touch `process.stdin` would make a pipe non-blocking, also for the shell that reads its script from it.
  return isatty(0) && isatty(2);
}

/** Asks for a line, with a default. Throws `CommandFailed` where nobody can be asked; `flag` says what to write instead. */
export async function askLine(question: string, flag: string, fallback = ''): Promise<string> {
  if (!canAsk()) throw new CommandFailed('refused', `there is no terminal to ask for it: say ${flag}`);
  const hint = fallback === '' ? '' : ` (${fallback})`;
  const line = await ask(`${question}${hint}: `, process.stderr);
  return line.trim() === '' ? fallback : line.trim();
}

/**
 * The password of a command: from a variable of the environment, standard input (with `--password-stdin`), or the terminal,
 * where a new one is asked for twice. Throws `CommandFailed`.
 */
export async function readPassword(
  { question, fromStdin = false, isNew = false, variable = 'BULKHEAD_PASSWORD' }: {
    question: string;
    fromStdin?: boolean;
    isNew?: boolean;
    variable?: string;
  },
): Promise<string> {
  if (fromStdin) return (await readText(process.stdin)).replace(/\r?\n$/, '');
  const given = environment()[variable];
  if (given !== undefined && given !== '') return given;
  if (!canAsk()) {
    throw new CommandFailed(
      'refused',
      `there is no terminal to ask for the password: set ${variable}, or say --password-stdin`,
    );
  }
  const password = await askHidden(`${question}: `);
  if (isNew && await askHidden('Once more: ') !== password) {
    throw new CommandFailed('refused', 'the two passwords are not the same; nothing was changed');
  }
  return password;
}

async function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const line = await ask('', silent);
  process.stderr.write('\n');
  return line;
}

async function ask(question: string, output: NodeJS.WritableStream): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  const stopped = Promise.race([once(terminal, 'SIGINT'), once(terminal, 'close')]).then(() => {
    throw new CommandFailed('interrupted', 'interrupted');
  });
  stopped.catch(() => 'awaited by the race');
  try {
    return await Promise.race([terminal.question(question), stopped]);
  } finally {
    terminal.close();
  }
}
