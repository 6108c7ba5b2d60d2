// An app's hook log as Server-Sent Events: what is kept, then every new line, until the reader goes or may no longer read, or
// the app is gone.
import type { ServerResponse } from 'node:http';
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import type { HeaderList } from '../../http/header-list.ts';
import { eventStream, writeHead } from '../../http/response-headers.ts';
import { decideScope, type Principal } from '../../scope.ts';
import type { LogEntry } from './log.ts';
import type { AppLog } from '../ports.ts';

/** The reader, and its response. */
export interface LogReader {
  response: ServerResponse;
  headers: HeaderList;
  principal: Principal;
  app: AppDefinition;
}

type LogDeps = Pick<Deps, 'now' | 'definitions'> & { tokens: Pick<Deps['tokens'], 'current'> };

const checkMs = 2_000;
const pingEvery = 7;
const maxWaitingBytes = 1_048_576;

/** Begins the stream and returns. */
export async function serveLog(
  deps: LogDeps,
  log: AppLog,
  { response, headers, principal, app }: LogReader,
): Promise<void> {
  writeHead(response, 200, [...headers, ...eventStream]);
  if (response.req.method === 'HEAD') return void response.end();
  response.write(': connected\n\n');
  const write = (text: string) => {
    // A reader that does not read is cut off.
    if (response.writableLength > maxWaitingBytes) response.destroy();
    else response.write(text);
  };
  const tell = (entry: LogEntry) => write(`event: log\ndata: ${JSON.stringify(entry)}\n\n`);
  const stop = log.follow(tell);
  const end = () => {
    stop();
    response.end();
  };
  let looks = 0;
  const look = async () => {
    // It ended at the last look, and whoever has not read the rest by now is cut off as well.
    if (response.writableEnded) return void response.destroy();
    const isThere = await hasApp(deps, app);
    if (response.writableEnded) return;
    if (!mayRead(deps, principal, app)) {
      write('event: unauthorized\ndata: {}\n\n');
      end();
    } else if (!isThere) end();
    else if (++looks % pingEvery === 0) write(': ping\n\n');
  };
  const timer = setInterval(() => void look(), checkMs);
  response.once('close', () => {
    clearInterval(timer);
    stop();
  });
}

async function hasApp(
  { definitions }: Pick<Deps, 'definitions'>,
  { id, schema, workspace }: AppDefinition,
): Promise<boolean> {
  try {
    return (await definitions.app(workspace.id, id))?.schema === schema;
  } catch {
    return true; // its database is away: the next look finds out
  }
}

function mayRead(
  { tokens, now }: Pick<LogDeps, 'tokens' | 'now'>,
  principal: Principal,
  { id, workspace }: AppDefinition,
): boolean {
  if (now().getTime() >= principal.expiresAt * 1_000) return false;
  const left = tokens.current(principal);
  return left !== undefined &&
    decideScope('app_admin', left, { workspace: workspace.id, app: id }) === 'allow';
}
