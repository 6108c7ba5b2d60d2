// Facts that the code reports; the one sink here decides how they are written.
import { lineWriter } from './line-writer.ts';
import type { Role } from '../scope.ts';
import { openStandardOutput } from './standard-output.ts';

/** Everything worth a log line. No member may hold a secret or a body. */
export type LogEvent =
  | {
    type: 'request_done';
    method: string;
    /** The route's pattern, never the URL: paths carry names, queries carry tokens. */
    route: string;
    status: number;
    ms: number;
    request_id: string;
    principal: Role | 'none';
    workspace: string | undefined;
  }
  | { type: 'request_failed'; request_id: string; error: string; stack?: string }
  | { type: 'server_ready'; url: string }
  /** The database driver is another than the one that its patches are for: `storage/connections/driver/README.md`. */
  | { type: 'driver_unpatched'; files: readonly string[] }
  | { type: 'migrated'; database: string; version: number }
  | { type: 'background_failed'; task: string; error: string }
  | { type: 'database_lost'; error: string }
  | { type: 'workspace_reaped'; database: string }
  /** Blobs that no file needed were removed. */
  | { type: 'blobs_swept'; removed: number }
  /** Audit entries were removed, as `audit.retention_days` says. */
  | { type: 'audit_pruned'; log: string; removed: number }
  | { type: 'mail_failed'; mail: string; attempts: number; error: string; gives_up: boolean }
  | { type: 'provider_failed'; workspace: string; provider: string; step: string; reason: string };

/** Reports a fact. Never throws, never waits. */
export type Observe = (fact: LogEvent) => void;

/** How serious each fact is. */
const levels: Record<LogEvent['type'], Level> = {
  request_done: 'info',
  request_failed: 'error',
  server_ready: 'info',
  driver_unpatched: 'warn',
  migrated: 'info',
  background_failed: 'error',
  database_lost: 'warn',
  workspace_reaped: 'info',
  blobs_swept: 'info',
  audit_pruned: 'info',
  mail_failed: 'warn',
  provider_failed: 'warn',
};

type Level = 'debug' | 'info' | 'warn' | 'error';
const order: readonly Level[] = ['debug', 'info', 'warn', 'error'];

/** How lines are written: one JSON object each for machines, or a short line for a person's terminal. */
export interface LogOptions {
  level: Level;
  format: 'json' | 'pretty';
  now: () => Date;
  /** File descriptor; standard output unless a test says otherwise. */
  descriptor?: number;
}

/** Writes one line a fact. */
export function logObserver(options: LogOptions): Observe {
  const threshold = order.indexOf(options.level);
  const format = options.format === 'json' ? jsonLine : prettyLine;
  const writeLine = lineWriter(options.descriptor ?? openStandardOutput());
  const stamp = timestamps();
  return (fact) => {
    const level = levels[fact.type];
    if (order.indexOf(level) >= threshold) writeLine(format(stamp(options.now()), level, fact));
  };
}

/** For `catch`: what fails of work that nobody waits for, or that others go on without, is told to the log and nobody else. */
export function logFailure({ observe }: { observe: Observe }, task: string): (error: unknown) => void {
  return (error) => observe({ type: 'background_failed', task, error: String(error) });
}

/** Renders dates; many lines share a millisecond, and rendering one costs more than the rest of its line. */
function timestamps(): (date: Date) => string {
  let last = Number.NaN;
  let text = '';
  return (date) => {
    const milliseconds = date.getTime();
    if (milliseconds === last) return text;
    last = milliseconds;
    text = date.toISOString();
    return text;
  };
}

function jsonLine(ts: string, level: Level, fact: LogEvent): string {
  if (fact.type === 'request_done') return requestLine(ts, level, fact);
  return `${JSON.stringify({ ts, level, ...fact })}\n`;
}

/**
 * Put together by hand, which takes a third of JSON.stringify's time. Methods, patterns, request ids and roles hold
 * nothing that JSON escapes.
 */
function requestLine(ts: string, level: Level, fact: Extract<LogEvent, { type: 'request_done' }>): string {
  const { type, method, route, status, ms, request_id: id, principal, workspace } = fact;
  const place = workspace === undefined ? '' : `,"workspace":${JSON.stringify(workspace)}`;
  return `{"ts":"${ts}","level":"${level}","type":"${type}","method":"${method}","route":"${route}",` +
    `"status":${status},"ms":${ms},"request_id":"${id}","principal":"${principal}"${place}}\n`;
}

function prettyLine(ts: string, level: Level, { type, ...members }: LogEvent): string {
  const rest = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `${ts} ${level.padEnd(5)} ${type} ${rest.join(' ')}\n`;
}
