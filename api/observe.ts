// Facts that the code reports; the one sink here decides how they are written.
import { write } from 'node:fs';
import type { Role } from './scope.ts';

/** Everything worth a log line. No member may hold a secret or a body. */
export type Fact =
  | {
    type: 'request_done';
    method: string;
    /** The route's pattern, never the URL: paths carry names, queries carry tokens. */
    route: string;
    status: number;
    ms: number;
    request_id: string;
    principal: Role | 'none';
    workspace?: string;
  }
  | { type: 'request_failed'; request_id: string; error: string; stack?: string }
  | { type: 'server_ready'; url: string }
  | { type: 'migrated'; database: string; version: number }
  | { type: 'background_failed'; task: string; error: string }
  | { type: 'database_lost'; error: string }
  | { type: 'workspace_reaped'; database: string };

/** Reports a fact. Never throws, never waits. */
export type Observe = (fact: Fact) => void;

/** How serious each fact is. */
const levels: Record<Fact['type'], Level> = {
  request_done: 'info',
  request_failed: 'error',
  server_ready: 'info',
  migrated: 'info',
  background_failed: 'error',
  database_lost: 'warn',
  workspace_reaped: 'info',
};

type Level = 'debug' | 'info' | 'warn' | 'error';
const order: readonly Level[] = ['debug', 'info', 'warn', 'error'];

const maximalBacklog = 4_194_304;

/** Writes one JSON line a fact to standard output; lines of one turn of the event loop go out together. */
export function logObserver(options: { level: Level; now: () => Date; descriptor?: number }): Observe {
  const threshold = order.indexOf(options.level);
  const descriptor = options.descriptor ?? 1;
  let pending = '';
  let busy = false;
  const flush = () => {
    if (pending === '') {
      busy = false;
      return;
    }
    const bytes = Buffer.from(pending);
    pending = '';
    write(descriptor, bytes, (error, written) => {
      // A reader that went away must not take the server with it: those lines are lost, nothing else.
      if (error === null && written < bytes.length) pending = bytes.toString('utf8', written) + pending;
      flush();
    });
  };
  return (fact) => {
    const level = levels[fact.type];
    if (order.indexOf(level) < threshold || pending.length > maximalBacklog) return;
    pending += `${JSON.stringify({ ts: options.now(), level, ...fact })}\n`;
    if (busy) return;
    busy = true;
    setImmediate(flush);
  };
}
