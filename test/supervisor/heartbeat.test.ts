// When a process that answers nothing is given up.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { Heartbeat } from '../../supervisor/heartbeat.ts';

it('a process that is silent for too long is given up, not one that answers now and then', async () => {
  const pulse = new Heartbeat({ intervalMs: 20, timeoutMs: 100 });
  let asked = 0;
  const watch = pulse.watch(() => {
    asked++;
    if (asked % 3 === 0 && asked <= 30) pulse.beat();
  }, new AbortController().signal);
  await expect(watch).rejects.toThrow('did not respond for 0.1 s');
  // More often when this machine was too busy to ask in time.
  expect(asked).toBeGreaterThanOrEqual(30 + 4);
});

it('silence while we are late ourselves counts for nothing', async () => {
  const pulse = new Heartbeat({ intervalMs: 20, timeoutMs: 100 });
  const given = vi.fn();
  const watch = pulse.watch(() => {}, new AbortController().signal);
  watch.catch(given);
  for (const began = performance.now(); performance.now() - began < 600;) {
    const busy = performance.now();
    while (performance.now() - busy < 50);
    await sleep(0);
  }
  expect(given).not.toHaveBeenCalled();
  await expect(watch).rejects.toThrow('did not respond');
});

it('the watch ends with the process', async () => {
  const ended = new AbortController();
  const watch = new Heartbeat({ intervalMs: 60_000, timeoutMs: 120_000 }).watch(() => {}, ended.signal);
  ended.abort();
  await expect(watch).rejects.toThrow('aborted');
});
