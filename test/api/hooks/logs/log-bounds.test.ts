// How much of a log is kept.
import { expect, it } from 'vitest';
import { HookLog } from '../../../../api/hooks/logs/log.ts';

/** A log in which each line comes a minute after the last. */
function newLog() {
  let minutes = 0;
  return new HookLog(() => new Date(++minutes * 60_000));
}

it('is the last 1,000 lines of a log', () => {
  const log = newLog();
  for (let line = 1; line <= 1_005; line++) log.add({ level: 'info', message: `line ${line}` });
  expect(log.entries).toHaveLength(1_000);
  expect(log.entries[0]?.message).toBe('line 6');
  expect(log.place).toBe(1_005);
  expect(log.after(1_003).map(({ message }) => message)).toEqual(['line 1004', 'line 1005']);
  expect(log.after(0)).toHaveLength(1_000);
  expect(log.after(1_005)).toEqual([]);
  // Of a process that is another by now.
  expect(log.after(2_000)).toEqual([]);
});

it('is the last 256 KiB of a log', () => {
  const log = newLog();
  for (let line = 0; line < 100; line++) log.add({ level: 'info', message: 'é'.repeat(5_000) });
  const bytes = log.entries.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)), 0);
  expect(bytes).toBeLessThanOrEqual(262_144);
  expect(bytes).toBeGreaterThan(262_144 - 10_200);
});

it('is 1 MiB of a minute, and says once that there was more', () => {
  let minute = 0;
  const log = new HookLog(() => new Date(minute * 60_000));
  const lost = () => log.entries.filter(({ level }) => level === 'warn').length;
  const add = () => log.add({ level: 'info', message: 'x'.repeat(65_536) });
  for (let line = 0; line < 15; line++) add();
  expect(lost()).toBe(0);
  for (let line = 0; line < 15; line++) add();
  expect([lost(), log.place]).toEqual([1, 16]);
  minute++;
  add();
  expect(log.place).toBe(17);
});

it('is of lines as they were written, and nothing of the objects that they were', () => {
  const log = newLog();
  const fields = { order: { state: 'new' } };
  log.add({ level: 'info', message: 'written', fields });
  fields.order.state = 'changed';
  expect(log.entries).toEqual([{
    ts: '1970-01-01T00:01:00.000Z',
    level: 'info',
    message: 'written',
    file: null,
    request_id: null,
    fields: { order: { state: 'new' } },
  }]);
});
