// The reserve of the disk, on a disk that the test fills.
import { expect, it } from 'vitest';
import type { LogEvent } from '../../../api/logging/events.ts';
import { DiskReserve } from '../../../api/usage/disk-reserve.ts';

const mebibyte = 1_048_576;

it('refuses while one of the disks has less free, and says when it begins and ends', async () => {
  const events: LogEvent[] = [];
  const free: Record<string, number> = {};
  const reserve = new DiskReserve({
    config: { data_dir: '/data', storage: { reserve_mb: 10 } },
    observe: (event) => events.push(event),
    freeBytes: (folder) => {
      if (folder === '/data/postgresql') {
        return Promise.reject(Object.assign(new Error(), { code: 'ENOENT' }));
      }
      return Promise.resolve((free[folder] ?? 100) * mebibyte);
    },
  });
  await reserve.check();
  reserve.requireSpace();
  free['/data/blobs'] = 9;
  await reserve.check();
  await reserve.check();
  expect(() => reserve.requireSpace()).toThrow('the disk of the server is almost full');
  free['/data/blobs'] = 10;
  await reserve.check();
  reserve.requireSpace();
  expect(events).toEqual([
    { type: 'disk_low', free_mb: 9, reserve_mb: 10 },
    { type: 'disk_recovered', free_mb: 10, reserve_mb: 10 },
  ]);
});
