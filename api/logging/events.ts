// Log events: what the code reports, and how it is written.
import { replaceControlCharacters } from './control-characters.ts';
import { lineWriter } from './line-writer.ts';
import type { MailFailure } from '../mail/failure.ts';
import type { CallerRole } from '../scope.ts';
import { openOutputDescriptor } from './standard-output.ts';

/** An event with a log line. No member may hold a secret or a body. */
export type LogEvent =
  | {
    type: 'request_done';
    method: string;
    /** The pattern of the route, never the URL, whose path has names and whose query has tokens. */
    route: string;
    status: number;
    ms: number;
    request_id: string;
    principal: CallerRole | 'none';
    workspace: string | undefined;
    /** The id of the admin who acts as the end-user. */
    impersonator?: string | undefined;
    /** The id of the API key. */
    key?: string | undefined;
  }
  /** Requests that were refused in one second before any work was done for them: too many, or no valid HTTP. */
  | { type: 'requests_refused'; client: string; count: number; statuses: readonly number[] }
  | { type: 'request_failed'; request_id: string; error: string; stack?: string }
  | { type: 'server_ready'; url: string }
  /** The database driver is another than the one that its patches are for: `storage/connections/driver/README.md`. */
  | { type: 'driver_unpatched'; files: readonly string[] }
  /** The database server bounds no temporary files, and the role may not set a bound: docs/how-to/external-postgresql.md. */
  | { type: 'temp_files_unbounded' }
  | { type: 'search_without_trigrams' }
  | { type: 'migrated'; database: string; version: number }
  | { type: 'background_failed'; task: string; error: string }
  | { type: 'database_lost'; error: string }
  | { type: 'workspace_reaped'; database: string }
  /** An app or workspace is deleted whose hook files are in a folder of the operator's own, and stay there. */
  | { type: 'hook_files_kept'; folder: string }
  /** Blobs that no file needed were removed. */
  | { type: 'blobs_swept'; removed: number }
  /** Audit entries were removed, as `audit.retention_days` says. */
  | { type: 'audit_pruned'; log: string; removed: number }
  | ({ type: 'mail_failed'; mail: string; attempts: number; gives_up: boolean } & MailFailure)
  /** Less of the disk is free than its reserve, so that what tenants write is refused; or no longer. */
  | { type: 'disk_low' | 'disk_recovered'; free_mb: number; reserve_mb: number }
  /** A share that a policy bounds is used up: what goes beyond it is refused, discarded or waits. */
  | { type: 'share_spent'; share: string; workspace: string | undefined; client: string | undefined }
  /** A line of the hooks of an app, on a terminal only: the text is the tenant's. */
  | { type: 'hook_log'; level: Level; app: string; text: string; request_id: string | null }
  | { type: 'provider_failed'; workspace: string; provider: string; step: string; reason: string };

/** Reports an event. Never throws, never waits. */
export type Observe = (event: LogEvent) => void;

/** The level of each event, but for lines of hooks, which have their own. */
const levels: Record<Exclude<LogEvent['type'], 'hook_log'>, Level> = {
  request_done: 'info',
  requests_refused: 'warn',
  request_failed: 'error',
  server_ready: 'info',
  driver_unpatched: 'warn',
  temp_files_unbounded: 'warn',
  search_without_trigrams: 'warn',
  migrated: 'info',
  background_failed: 'error',
  database_lost: 'warn',
  workspace_reaped: 'info',
  hook_files_kept: 'warn',
  blobs_swept: 'info',
  audit_pruned: 'info',
  mail_failed: 'warn',
  disk_low: 'error',
  disk_recovered: 'info',
  share_spent: 'warn',
  provider_failed: 'warn',
};

type Level = 'debug' | 'info' | 'warn' | 'error';
const order: readonly Level[] = ['debug', 'info', 'warn', 'error'];

/** How events are written: as JSON objects for machines, or as short lines for people. */
export interface LogOptions {
  level: Level;
  format: 'json' | 'pretty';
  now: () => Date;
  /** The file descriptor; standard output by default. */
  descriptor?: number;
}

/** Makes the writer of events, one line each. */
export function logObserver(options: LogOptions): Observe {
  const threshold = order.indexOf(options.level);
  const format = options.format === 'json' ? jsonLine : prettyLine;
  const writeLine = lineWriter(options.descriptor ?? openOutputDescriptor());
  const stamp = timestamps();
  return (event) => {
    const level = event.type === 'hook_log' ? event.level : levels[event.type];
    if (order.indexOf(level) >= threshold) writeLine(format(stamp(options.now()), level, event));
  };
}

/** For `catch`: logs the failure of work that nothing waits for, or that others go on without. */
export function logFailure({ observe }: { observe: Observe }, task: string): (error: unknown) => void {
  return (error) => observe({ type: 'background_failed', task, error: String(error) });
}

/** Renders dates. Many lines share a millisecond, and rendering its date costs more than the rest of a line. */
function timestamps(): (date: Date) => string {
  let last = Number.NaN;
  let text = '';
  return (date) => {
    const time = date.getTime();
    if (time === last) return text;
    last = time;
    text = date.toISOString();
    return text;
  };
}

function jsonLine(ts: string, level: Level, event: LogEvent): string {
  if (event.type === 'request_done') return requestLine(ts, level, event);
  return `${JSON.stringify({ ts, level, ...event })}\n`;
}

/**
 * Renders the line of a request in a third of the time of `JSON.stringify`. Methods, patterns, request ids and roles have no
 * characters that JSON escapes.
 */
function requestLine(ts: string, level: Level, event: Extract<LogEvent, { type: 'request_done' }>): string {
  const { type, method, route, status, ms, request_id: id, principal, workspace, impersonator, key } = event;
  const place = workspace === undefined ? '' : `,"workspace":${JSON.stringify(workspace)}`;
  const ofKey = key === undefined ? '' : `,"key":"${key}"`;
  const actor = impersonator === undefined ? '' : `,"impersonator":${JSON.stringify(impersonator)}`;
  return `{"ts":"${ts}","level":"${level}","type":"${type}","method":"${method}","route":"${route}",` +
    `"status":${status},"ms":${ms},"request_id":"${id}","principal":"${principal}"${place}${actor}${ofKey}}\n`;
}

function prettyLine(ts: string, level: Level, event: LogEvent): string {
  const start = `${ts} ${level.padEnd(5)}`;
  if (event.type === 'hook_log') {
    const { app, text, request_id: id } = event;
    return `${start} hook ${app} ${readable(text)}${id === null ? '' : ` request_id=${id}`}\n`;
  }
  const { type, ...members } = event;
  const rest = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? readable(value) : JSON.stringify(value)}`);
  return `${start} ${type} ${rest.join(' ')}\n`;
}

/** A text that a terminal shows as it is, and whose further lines cannot be taken for lines of the log. */
function readable(text: string): string {
  return replaceControlCharacters(text, (character) => {
    if (character === '\n') return '\n    ';
    return character === '\t' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
