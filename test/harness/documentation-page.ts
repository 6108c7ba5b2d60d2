// Follows a page of the documentation as a person would: types its commands, saves its files, and looks for what it shows.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestServer } from './server.ts';

/** Where a page is followed, and what it says otherwise than it is here. */
export interface Reading {
  server?: Pick<TestServer, 'url' | 'dataDir'>;
  /** Texts of the page, and what is typed in their place. */
  instead?: Readonly<Record<string, string>>;
  /** Typed before everything else. */
  before?: string;
  /** Looks at the folder when all was typed, before it goes. */
  look?: (folder: string) => Promise<void>;
}

interface Block {
  kind: string;
  text: string;
}

const root = join(import.meta.dirname, '../..');
const patience = 40_000;

/**
 * Follows a page in a folder of its own, in which `data` is the server's. Blocks marked `sh` are typed into one shell; blocks of
 * code whose first line is a comment with a file name are saved there. What is marked `json` or `text` is what a reader sees
 * by then: the next command waits for it. In those, `…` stands for anything, and answers may have more members. Answers
 * everything that was printed. Throws when a command fails, or what the page shows does not come.
 */
export async function follow(
  page: string,
  { server, instead = {}, before = '', look }: Reading,
): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'bulkhead-reader-'));
  if (server !== undefined) await symlink(server.dataDir, join(home, 'data'));
  // Each response on a line of its own.
  await writeFile(join(home, '.curlrc'), 'write-out = "\\n"\n');
  const replaced = {
    ...(server === undefined ? {} : {
      'http://127.0.0.1:8080': server.url,
      '.localhost:8080': `.localhost:${new URL(server.url).port}`,
    }),
    // Below a shell, as npx runs it: what ends that leaves the program behind.
    'npx bulkhead': `sh -c '"$@"; exit $?' npx node ${join(root, 'supervisor/main.ts')}`,
    'node_modules/.bin/node supervisor/': `node ${join(root, 'supervisor/')}`,
    'node docs/': `node ${join(root, 'docs/')}`,
    'cp -r docs/': `cp -r ${join(root, 'docs/')}`,
    ...instead,
  };
  const adapt = (text: string) =>
    Object.entries(replaced).reduce((before, [from, to]) => before.replaceAll(from, to), text);
  const shell = new Shell(home);
  try {
    shell.type(before);
    for (const { kind, text } of blocksOf(await readFile(join(root, page), 'utf8'))) {
      const [, file] = /^(?:\/\/|#) ([\w-]+\.[a-z]+)\n/.exec(text) ?? [];
      if (kind === 'sh') shell.type(adapt(text));
      else if (kind === 'json' || kind === 'text') await shell.shows(adapt(text), kind);
      else if (file !== undefined) shell.type(`cat > ${file} <<'END OF FILE'\n${text}END OF FILE\n`);
    }
    const printed = await shell.end();
    await look?.(home);
    return printed;
  } finally {
    shell.kill();
    await rm(home, { recursive: true });
  }
}

/** The codes of the errors that were answered, in order. */
export function codesIn(printed: string): string[] {
  return [...printed.matchAll(/\{"code":"([a-z_]+)"/g)].map(([, code = '']) => code);
}

/** The fenced blocks of a page. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind = '', text = '']) => ({ kind, text }));
}

/** A shell that stops at the first command that fails. */
class Shell {
  readonly #child;
  readonly #exited: Promise<string>;
  #more = Promise.withResolvers<'more'>();
  #printed = '';
  #typed = '';

  constructor(home: string) {
    const { PATH = '' } = process.env;
    // A group of its own, with what it leaves in the background. No program shares its input: one that makes it non-blocking, as
    // Node's do, would end it at the next line.
    this.#child = spawn('bash', ['-c', 'exec bash -eu -o pipefail <(exec cat) </dev/null'], {
      cwd: home,
      env: { PATH, HOME: home },
      detached: true,
    });
    this.#exited = once(this.#child, 'close').then(([code, signal]) =>
      `the shell ended with ${code ?? signal}`
    );
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#printed += text;
        this.#more.resolve('more');
        this.#more = Promise.withResolvers();
      });
    }
    this.#child.stdin.on('error', () => 'it has ended, which `end` and `shows` say');
  }

  type(text: string): void {
    this.#typed = text;
    this.#child.stdin.write(text);
  }

  /** Waits until all of that was printed. */
  async shows(text: string, kind: 'json' | 'text'): Promise<void> {
    const wanted = kind === 'json' ? [text] : text.trimEnd().split('\n');
    const find = kind === 'json' ? showsJson : showsLine;
    const late = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => late.resolve('late'), patience);
    try {
      for (;;) {
        const missing = wanted.find((each) => !find(this.#printed, each));
        if (missing === undefined) return;
        const what = await Promise.race([this.#more.promise, this.#exited, late.promise]);
        if (what !== 'more') this.#fail(`it does not come (${what}): ${missing}`);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Everything that was printed, once all commands are done. */
  async end(): Promise<string> {
    this.#child.stdin.end();
    const end = await this.#exited;
    if (!end.endsWith(' 0')) this.#fail(end);
    return this.#printed;
  }

  kill(): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
  }

  #fail(what: string): never {
    throw new Error(`${what}\ntyped last:\n${this.#typed}\nprinted:\n${this.#printed.slice(-6_000)}`);
  }
}

// What runs in the background prints in between, also within a line: neither begins nor ends where a line does.

function showsLine(printed: string, line: string): boolean {
  return new RegExp(patternOf(line)).test(printed);
}

function patternOf(text: string): string {
  return text.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*');
}

function showsJson(printed: string, text: string): boolean {
  const wanted: unknown = JSON.parse(text);
  return printed.split('\n').flatMap(valuesIn).some((value) => somewhere(value, wanted));
}

function valuesIn(line: string): unknown[] {
  const start = line.search(/[{[]/);
  for (
    let end = line.length;
    start >= 0 && end > start;
    end = Math.max(...['}', ']'].map((c) => line.lastIndexOf(c, end - 2) + 1))
  ) {
    try {
      return [JSON.parse(line.slice(start, end))];
    } catch {
      continue; // something else was printed after it
    }
  }
  return [];
}

function somewhere(value: unknown, wanted: unknown): boolean {
  if (fits(value, wanted)) return true;
  return typeof value === 'object' && value !== null &&
    Object.values(value).some((each) => somewhere(each, wanted));
}

function fits(value: unknown, wanted: unknown): boolean {
  if (typeof wanted === 'string') {
    return typeof value === 'string' && new RegExp(`^${patternOf(wanted)}$`, 's').test(value);
  }
  if (typeof wanted !== 'object' || wanted === null) return value === wanted;
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(wanted)) {
    return false;
  }
  if (Array.isArray(wanted) && Object.keys(value).length !== wanted.length) return false;
  return Object.entries(wanted).every(([name, each]) => fits(Reflect.get(value, name), each));
}
