// An app's hook log as Server-Sent Events: what is kept, then every new line, until the reader goes or may no longer read.
import type { ServerResponse } from 'node:http';
import type { AppDefinition } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { decide, type Principal } from '../scope.ts';
import type { LogEntry } from './log.ts';
import type { AppLog } from './ports.ts';

/** Who reads, and where to. */
export interface LogReader {
  response: ServerResponse;
  headers: readonly (readonly [string, string])[];
  principal: Principal;
  app: AppDefinition;
}

const lookMilliseconds = 2_000;
const pingEvery = 7;
const mostWaitingBytes = 1_048_576;

/** Begins the stream and returns. */
export async function serveLog(
  deps: Pick<Deps, 'tokens' | 'now'>,
  log: AppLog,
  { response, headers, principal, app }: LogReader,
): Promise<void> {
  const fixed = [
    ['Content-Type', 'text/event-stream; charset=utf-8'],
    ['Cache-Control', 'no-store, no-transform'],
    ['X-Accel-Buffering', 'no'],
  ] as const;
  response.writeHead(200, [...headers, ...fixed].flat());
  if (response.req.method === 'HEAD') return void response.end();
  response.write(': connected\n\n');
  const write = (text: string) => {
    // Whoever does not read what is sent is cut off.
    if (response.writableLength > mostWaitingBytes) response.destroy();
    else response.write(text);
  };
  const tell = (entry: LogEntry) => write(`event: log\ndata: ${JSON.stringify(entry)}\n\n`);
  const stop = log.follow(tell);
  let looks = 0;
  const timer = setInterval(() => {
    if (!mayRead(deps, principal, app)) {
      write('event: unauthorized\ndata: {}\n\n');
      response.end();
    } else if (++looks % pingEvery === 0) write(': ping\n\n');
  }, lookMilliseconds);
  response.once('close', () => {
    clearInterval(timer);
    stop();
  });
}

function mayRead(
  { tokens, now }: Pick<Deps, 'tokens' | 'now'>,
  principal: Principal,
  { id, workspace }: AppDefinition,
): boolean {
  if (now().getTime() >= principal.expiresAt * 1_000) return false;
  const left = tokens.current(principal);
  return left !== undefined && decide('app_admin', left, { workspace: workspace.id, app: id }) === 'allow';
}
