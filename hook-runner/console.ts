// `console` for hook files: every line goes to the app's log.
import type { LogWriter } from './log-lines.ts';
import type { LogLevel } from './protocol.ts';

/** Makes a text of what a `console` method is given, as `node:util`'s `format` does. */
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

/** The object to be found as `console`. */
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
  const taken = (label: string) => {
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
    timeLog: (label = 'default', ...values: unknown[]) => write('info', [taken(label), ...values]),
    timeEnd: (label = 'default') => {
      write('info', [taken(label)]);
      starts.delete(label);
    },
    timeStamp: () => undefined,
    groupEnd: () => undefined,
    clear: () => undefined,
  });
}

/** A text of what somebody wants written down; values that throw when they are looked at still make one. */
export function formatValues(values: readonly unknown[], format: Format): string {
  try {
    return format(...values).slice(0, maxTextLength);
  } catch (error) {
    return `(a value that cannot be shown: ${error instanceof Error ? error.message : 'it threw'})`;
  }
}
