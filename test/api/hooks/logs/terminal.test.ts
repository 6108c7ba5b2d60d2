// What of an app's log is printed at the terminal: how much, for whom, in which form.
import { expect, it } from 'vitest';
import type { LogEntry } from '../../../../api/hooks/logs/log.ts';
import { type PrintLine, terminalPrinter } from '../../../../api/hooks/logs/terminal.ts';
import type { LogEvent } from '../../../../api/logging/events.ts';
import { SpentShares } from '../../../../api/logging/spent-shares.ts';
import { resolveConfig } from '../../../../supervisor/config.ts';

const shop = { workspace: 'acme', app: 'shop' };
const line: LogEntry = {
  ts: '2026-01-02T03:04:05.678Z',
  level: 'info',
  message: 'hello',
  file: 'a.ts',
  request_id: 'r1',
  fields: null,
};

/** A printer, what it prints, and its clock. */
function terminal(format: 'pretty' | 'json' = 'pretty') {
  const { config } = resolveConfig({ file: undefined, env: {}, flags: [], cwd: '/', terminal: false });
  const events: LogEvent[] = [];
  const clock = { ms: Date.UTC(2026, 0, 2) };
  const deps = { observe: (event: LogEvent) => void events.push(event), now: () => new Date(clock.ms) };
  const spentShares = new SpentShares(deps);
  const print = terminalPrinter({
    ...deps,
    spentShares,
    config: { ...config, log: { level: 'info', format } },
  });
  return { print, events, clock };
}

function printed(entry: LogEntry): string {
  const { print, events } = terminal();
  print?.(shop, entry);
  const [event] = events;
  return event?.type === 'hook_log' ? event.text : '';
}

it('is nothing where the log is for machines', () => {
  expect(terminal('json').print).toBeUndefined();
});

it('names the app, the level and the request of a line', () => {
  const { print, events } = terminal();
  print?.(shop, { ...line, level: 'warn' });
  expect(events).toEqual([
    { type: 'hook_log', level: 'warn', app: 'acme/shop', text: 'a.ts hello', request_id: 'r1' },
  ]);
});

it('names the place of a fault, and has the fields of a line', () => {
  const place = { line: 3, column: 9 };
  expect(printed({ ...line, fields: { ...place, stack: 'at f (a.ts:3:9)' } })).toBe('a.ts:3:9 hello');
  expect(printed({ ...line, fields: place })).toBe('a.ts:3:9 hello');
  expect(printed({ ...line, fields: { order: 7 } })).toBe('a.ts hello {"order":7}');
  expect(printed({ ...line, file: null })).toBe('hello');
});

it('is the beginning of a long line', () => {
  const text = printed({ ...line, message: 'x'.repeat(100_000) });
  expect(text.length).toBeLessThan(2_100);
  expect(text).toMatch(/x… \(100005 characters\)$/);
});

it('is 200 lines of a workspace at once and then 20 a second, and says that there are more', () => {
  const { print, events, clock } = terminal();
  const flood = (to: PrintLine | undefined) => {
    const before = events.length;
    for (let count = 0; count < 1_000; count++) to?.({ ...shop, app: `app${count % 7}` }, line);
    return events.slice(before).map(({ type }) => type);
  };
  const first = flood(print);
  expect(first.filter((type) => type === 'hook_log')).toHaveLength(200);
  expect(first.filter((type) => type === 'share_spent')).toHaveLength(1);
  clock.ms += 1_000;
  expect(flood(print)).toEqual(Array(20).fill('hook_log'));
  print?.({ workspace: 'globex', app: 'site' }, line);
  expect(events.at(-1)).toMatchObject({ type: 'hook_log', app: 'globex/site' });
});
