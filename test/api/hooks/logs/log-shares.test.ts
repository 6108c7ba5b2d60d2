// The memory of the logs of a workspace's apps: over the share, the oldest lines go, whichever app wrote them.
import { expect, it, vi } from 'vitest';
import type { HookLog } from '../../../../api/hooks/logs/log.ts';
import { LogShares, type LogSharesDeps } from '../../../../api/hooks/logs/log-shares.ts';
import { SpentShares } from '../../../../api/logging/spent-shares.ts';

const mebibyte = 1_048_576;
const line = 'x'.repeat(32_768);

/** The shares of a process, each of so many MB, with the shares that its log says are spent. */
function sharesOf(max: number, workers = 1) {
  const spent: string[] = [];
  let minutes = 0;
  const now = () => new Date(++minutes * 60_000);
  const spentShares = new SpentShares({
    observe: (event) =>
      void (event.type === 'share_spent' && spent.push(`${event.share} of ${event.workspace}`)),
    now: () => new Date(0),
  });
  const policies: LogSharesDeps['policies'] = {
    range: () => Promise.resolve({ min: 0, max, value: max }),
    toggle: () => Promise.reject(new Error('no toggle')),
    set: () => Promise.reject(new Error('no set')),
  };
  return { shares: new LogShares({ workers, policies, spentShares, now }), spent };
}

/** Fills a log as far as its own bound allows. */
function fill(log: HookLog): void {
  for (let lines = 0; lines < 8; lines++) log.add({ level: 'info', message: line });
}

const sum = (logs: readonly HookLog[]) => logs.reduce((all, { bytes }) => all + bytes, 0);

it('keeps all lines within the share', async () => {
  const { shares, spent } = sharesOf(1);
  const logs = ['a', 'b', 'c', 'd'].map(() => shares.open('acme'));
  logs.forEach(fill);
  await Promise.resolve();
  expect(logs.map(({ entries }) => entries.length)).toEqual([7, 7, 7, 7]);
  expect(spent).toEqual([]);
});

it('drops the oldest lines of all apps, of no other workspace, and says so', async () => {
  const { shares, spent } = sharesOf(1);
  const other = shares.open('other');
  fill(other);
  const logs = Array.from({ length: 6 }, () => shares.open('acme'));
  logs.forEach(fill);
  await vi.waitFor(() => expect(sum(logs)).toBeLessThanOrEqual(mebibyte));
  // Six logs of seven lines, of which a MiB has space for 31.
  expect(logs.map(({ entries }) => entries.length)).toEqual([0, 3, 7, 7, 7, 7]);
  expect(other.entries).toHaveLength(7);
  expect(spent).toEqual(['quota.log_mb of acme']);
});

it('is divided among the processes', async () => {
  const { shares } = sharesOf(1, 4);
  const logs = [shares.open('acme'), shares.open('acme')];
  logs.forEach(fill);
  await vi.waitFor(() => expect(sum(logs)).toBeLessThanOrEqual(mebibyte / 4));
  expect(logs.map(({ entries }) => entries.length)).toEqual([0, 7]);
});

it('is free again of an app that is gone', async () => {
  const { shares, spent } = sharesOf(1);
  const logs = Array.from({ length: 8 }, () => shares.open('acme'));
  for (const log of logs.slice(0, 4)) {
    fill(log);
    shares.close('acme', log);
  }
  logs.slice(4).forEach(fill);
  await new Promise(setImmediate);
  expect(logs.slice(4).map(({ entries }) => entries.length)).toEqual([7, 7, 7, 7]);
  expect(spent).toEqual([]);
});
