// What an editor offers while somebody types: TypeScript's own language server, asked as editors ask it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Message {
  id?: number;
  method?: string;
  result?: unknown;
}

/** A file that is open in an editor whose folder it lies in, and where the cursor is in it: after this text. */
export interface Typing {
  folder: string;
  file: string;
  text: string;
  after: string;
}

const program = join(import.meta.dirname, '../../node_modules/.bin/tsc');

/** What it underlines in the files of a folder, one line each. */
export function underlinedIn(folder: string): string[] {
  const { stdout } = spawnSync(program, [], { cwd: folder, encoding: 'utf8', timeout: 120_000 });
  return stdout.trim().split('\n').filter((line) => line !== '');
}

/** The names that it offers there. Throws when the language server ends before it answers. */
export async function completionsAt({ folder, file, text, after }: Typing): Promise<string[]> {
  // https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
  const child = spawn(program, ['--lsp', '--stdio'], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the language server has ended');
  });
  ended.catch(() => 'of interest only while something is asked');
  const asked = new Map<number, (result: unknown) => void>();
  const tell = (message: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const ask = async (id: number, method: string, params: object): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    asked.set(id, resolve);
    tell({ id, method, params });
    return await Promise.race([promise, ended]);
  };
  let read = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    read = Buffer.concat([read, chunk]);
    for (let message = first(read); message !== undefined; message = first(read)) {
      read = read.subarray(message.end);
      const { id, method, result }: Message = JSON.parse(message.body);
      if (id === undefined) continue;
      if (method === undefined) asked.get(id)?.(result);
      // What it asks of the editor: there is nothing that we have set.
      else tell({ id, result: method === 'workspace/configuration' ? [null] : null });
    }
  });
  try {
    const rootUri = pathToFileURL(folder).href;
    const uri = pathToFileURL(join(folder, file)).href;
    const capabilities = { textDocument: { completion: {} } };
    await ask(1, 'initialize', { processId: process.pid, rootUri, capabilities });
    tell({ method: 'initialized', params: {} });
    const textDocument = { uri, languageId: 'typescript', version: 1, text };
    tell({ method: 'textDocument/didOpen', params: { textDocument } });
    const lines = text.slice(0, text.indexOf(after) + after.length).split('\n');
    const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    return labelsOf(await ask(2, 'textDocument/completion', { textDocument: { uri }, position }));
  } finally {
    child.kill('SIGKILL');
  }
}

/** The first message in what has come, if it is whole. */
function first(read: Buffer): { body: string; end: number } | undefined {
  const headers = read.indexOf('\r\n\r\n');
  const [, length] = /Content-Length: (\d+)/i.exec(read.subarray(0, Math.max(headers, 0)).toString()) ?? [];
  const end = headers + 4 + Number(length);
  return length === undefined || read.length < end
    ? undefined
    : { body: read.subarray(headers + 4, end).toString(), end };
}

function labelsOf(result: unknown): string[] {
  const items: unknown = typeof result === 'object' && result !== null && 'items' in result
    ? result.items
    : result;
  if (!Array.isArray(items)) return [];
  return items.map((item: { label?: unknown }) => String(item.label));
}
