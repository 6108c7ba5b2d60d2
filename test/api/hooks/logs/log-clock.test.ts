// The log of hooks while the clock is set.
import { expect, it } from 'vitest';
import { HookLog } from '../../../../api/hooks/logs/log.ts';

it('takes as much after the clock was set back as at any other time', () => {
  let now = Date.UTC(2026, 0, 2);
  const log = new HookLog(() => new Date(now));
  const flood = () => {
    for (let line = 0; line < 1_200; line++) log.add({ level: 'info', message: 'x'.repeat(1_000) });
  };
  flood();
  now -= 3_600_000;
  log.add({ level: 'info', message: 'an hour earlier' });
  expect(log.entries.at(-1)?.message).toBe('an hour earlier');
});
