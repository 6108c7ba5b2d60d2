// The log of the supervisor and of PostgreSQL: one line for each event, as JSON or for people. The API writes its own lines to
// the same output.

/** The level of a log line. */
export type OutputLevel = 'debug' | 'info' | 'warn' | 'error';

const levels: readonly OutputLevel[] = ['debug', 'info', 'warn', 'error'];

/** Writes lines to standard output. */
export interface Output {
  /** Writes a line of the supervisor. */
  log: (level: OutputLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Writes a line at level `info`, whatever level is configured. */
  logAlways: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Writes an instruction for the operator: plain text on a terminal. */
  hint: (text: string) => void;
  /** Writes a line of PostgreSQL's log. */
  postgresLine: (line: string) => void;
}

/** Options of an output. `write` receives complete lines with their line ends. */
export interface OutputOptions {
  level: OutputLevel;
  format: 'pretty' | 'json';
  now: () => Date;
  write: (text: string) => void;
}

/** Creates the output of a server. */
export function createOutput(options: OutputOptions): Output {
  const { format, now, write } = options;
  const threshold = levels.indexOf(options.level);
  const line = (level: OutputLevel, fields: Readonly<Record<string, unknown>>) => {
    if (levels.indexOf(level) >= threshold) always(level, fields);
  };
  const always = (level: OutputLevel, fields: Readonly<Record<string, unknown>>) => {
    const entry = { ts: now().toISOString(), level, ...fields };
    write(`${format === 'json' ? JSON.stringify(entry) : pretty(entry)}\n`);
  };
  return {
    log: (level, message, fields) => line(level, { part: 'supervisor', message, ...fields }),
    logAlways: (message, fields) => always('info', { part: 'supervisor', message, ...fields }),
    hint: (text) =>
      format === 'json' ? line('info', { part: 'supervisor', message: text }) : write(`${text}\n`),
    postgresLine: (text) => {
      const { level, message } = readPostgresLine(text);
      line(level, { part: 'postgres', message });
    },
  };
}

const severities: Readonly<Record<string, OutputLevel>> = {
  DEBUG: 'debug',
  LOG: 'info',
  INFO: 'info',
  NOTICE: 'info',
  WARNING: 'warn',
  ERROR: 'warn',
  FATAL: 'error',
  PANIC: 'error',
};

/** Messages of PostgreSQL at every start and stop, or to every connection during one. */
const routine: readonly string[] = [
  'starting PostgreSQL',
  'listening on',
  'database system was shut down at',
  'database system is ready',
  'database system is shut down',
  'received fast shutdown request',
  'aborting any active transactions',
  'shutting down',
  'background worker',
  'could not receive data from client: Connection reset by peer',
  'the database system is starting up',
  'the database system is not yet accepting connections',
  'the database system is shutting down',
  'terminating connection due to',
];

/** Parses a line of PostgreSQL's log, `<pid> <severity>:  <message>`. */
export function readPostgresLine(text: string): { level: OutputLevel; message: string } {
  const match = /^\d+ ([A-Z]+?)\d?: {1,2}(.*)$/.exec(text);
  if (match === null) return { level: 'info', message: text.trim() };
  const [, severity = '', message = ''] = match;
  return {
    level: routine.some((start) => message.startsWith(start)) ? 'debug' : severities[severity] ?? 'info',
    message,
  };
}

/** Formats a line as `2026-01-02T03:04:05.678Z info  postgres redo starts`, like those of the API. */
function pretty(entry: Readonly<Record<string, unknown>>): string {
  const { ts, level, part, message, ...rest } = entry;
  const fields = Object.entries(rest).map(([name, value]) =>
    `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`
  );
  return [ts, String(level).padEnd(5), part, message, ...fields].join(' ');
}
