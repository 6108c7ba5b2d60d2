// Tracking writes of more tables than there are at any time.
import { beforeEach, describe, expect, it } from 'vitest';
import { WriteTracker } from '../../../../api/records/cache/write-tracker.ts';
import { collectAll } from '../../../harness/old-objects.ts';

let writes: WriteTracker;
beforeEach(async () => {
  writes = new WriteTracker({ isCurrent: () => true, settled: () => Promise.resolve() });
  await Promise.resolve();
});

const write = (names: string[], work = () => Promise.resolve()) => writes.track({ names, ids: [] }, work);

describe('a tracker of more collections than there are at any time', () => {
  it('does not grow with them', async () => {
    collectAll();
    const before = process.memoryUsage().heapUsed;
    for (let made = 0; made < 400_000; made++) await write([`a_0123456789abcdef0123.collection_${made}`]);
    collectAll();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * 1_048_576);
    // It must not be collected before the heap is measured.
    expect(writes.versionOf(['a'])).toBeDefined();
  });

  it('knows which writes are under way, and gives what was written before a new version', async () => {
    await write(['a']);
    const before = writes.versionOf(['a']) ?? 0;
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = write(['slow'], () => {
      begun.resolve();
      return end.promise;
    });
    await begun.promise;
    for (let made = 0; made < 40_000; made++) {
      const names = [`one ${made}`, `other ${made}`];
      await write(names, () => {
        for (const name of [...names, 'slow']) {
          if (writes.versionOf([name]) !== undefined) throw new Error(`${name} is not under way`);
        }
        return Promise.resolve();
      });
    }
    end.resolve();
    await slow;
    expect(writes.versionOf(['slow'])).toBeDefined();
    const after = writes.versionOf(['a']) ?? 0;
    expect(after).toBeGreaterThanOrEqual(before);
    await write(['a']);
    expect(writes.versionOf(['a'])).toBeGreaterThan(after);
  });
});
