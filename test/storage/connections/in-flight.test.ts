// What is under way, by number; and that it leaves nothing behind for the collector of old objects.
import { describe, expect, it } from 'vitest';
import { InFlight } from '../../../storage/connections/in-flight.ts';
import { oldBytesOf } from '../../harness/old-objects.ts';

describe('values by number', () => {
  it('are found, replaced and taken away as those of a map', () => {
    const ours = new InFlight<string>();
    const map = new Map<number, string>();
    // Of more numbers than there are lists, so that they meet in them.
    for (let step = 0; step < 5_000; step++) {
      const number = (step * 7_919) % 389;
      if (step % 3 === 0) expect(ours.delete(number)).toBe(map.delete(number));
      else {
        ours.set(number, `${step}`);
        map.set(number, `${step}`);
      }
      expect(ours.size).toBe(map.size);
    }
    for (let number = 0; number < 389; number++) expect(ours.get(number)).toBe(map.get(number));
    expect(new Map(ours.entries())).toEqual(map);
    ours.clear();
    expect(ours.size).toBe(0);
    expect(ours.entries()).toEqual([]);
    expect(ours.get(5)).toBeUndefined();
  });

  it('do not outlive their time among the old objects', async () => {
    const ours = new InFlight<number[]>();
    ours.set(0, []);
    const most = await oldBytesOf(100_000, (index) => {
      ours.set(index + 1, Array.from({ length: 100 }, () => index));
      ours.delete(index - 31);
    });
    expect(most).toBeLessThan(4_194_304);
  });
});
