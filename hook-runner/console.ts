// `console` for hook files: every line goes to the app's log.
import type { LogWriter } from './log-lines.ts';
import type { LogLevel } from './protocol.ts';

/** Formats the arguments of a `console` method, as `format` of `node:util` does. */
export type Format = (...values: unknown[]) => string;

const maxTextLength = 16 * 1024;

const levels = {
  debug: 'debug',
  log: 'info',
  info: 'info',
  table: 'info',
  dirxml: 'info',
  group: 'info',
  groupCollapsed: 'info',
  trace: 'debug',
  warn: 'warn',
  error: 'error',
} as const satisfies Record<string, LogLevel>;

/** Creates the object that hook files know as `console`. */
export function createConsole(lines: LogWriter, format: Format): object {
  const write = (level: LogLevel, values: readonly unknown[]) => {
    lines.write({ level, message: formatValues(values, format), fields: null });
  };
  const methods: Record<string, (...values: unknown[]) => void> = {};
  for (const [name, level] of Object.entries(levels)) {
    methods[name] = (...values) => write(level, values);
  }
  const counts = new Map<string, number>();
  const starts = new Map<string, number>();
  const elapsed = (label: string) => {
    const now = performance.now();
    return `${label}: ${(now - (starts.get(label) ?? now)).toFixed(2)} ms`;
  };
  return Object.assign(methods, {
    assert: (condition: unknown, ...values: unknown[]) => {
      if (!condition) write('error', ['Assertion failed', ...values]);
    },
    count: (label = 'default') => {
      const count = (counts.get(label) ?? 0) + 1;
      counts.set(label, count);
      write('info', [`${label}: ${count}`]);
    },
    countReset: (label = 'default') => counts.delete(label),
    dir: (value: unknown) => write('info', [value]),
    time: (label = 'default') => starts.set(label, performance.now()),
    timeLog: (label = 'default', ...values: unknown[]) => write('info', [elapsed(label), ...values]),
    timeEnd: (label = 'default') => {
      write('info', [elapsed(label)]);
      starts.delete(label);
    },
    timeStamp: () => undefined,
    groupEnd: () => undefined,
    clear: () => undefined,
  });
}

/** Formats values for the log, cut to 16 KiB of characters. Never throws, even if a getter of a value does. */
export function formatValues(values: readonly unknown[], format: Format): string {
  try {
    return format(...values).slice(0, maxTextLength);
  } catch (error) {
    return `(a value that cannot be shown: ${error instanceof Error ? error.message : 'it threw'})`;
  }
}
