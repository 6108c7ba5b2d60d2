// What is kept for several owners, and who makes room for whom.
import { beforeAll, describe, expect, it } from 'vitest';
import { TenantLru } from '../../../../api/records/cache/tenant-lru.ts';

describe('KeptRecords', () => {
  let kept: TenantLru<number>;
  const keysOf = (owner: string) =>
    Array.from({ length: 100 }, (_unused, key) => key).filter((key) =>
      kept.get(owner, String(key)) !== undefined
    );
  const fill = (owner: string, count: number) => {
    for (let key = 0; key < count; key++) kept.add(owner, { key: String(key), value: key, size: 10 });
  };

  beforeAll(() => {
    kept = new TenantLru(320);
  });

  it('has whoever holds most make room', () => {
    fill('small', 3);
    fill('large', 100);
    expect(keysOf('small')).toEqual([0, 1, 2]);
    expect(keysOf('large').length).toBeGreaterThan(20);
    expect(keysOf('large').length).toBeLessThan(30);
    expect(keysOf('large')).toContain(99);
  });

  it('counts a value that is replaced once', () => {
    for (let time = 0; time < 1_000; time++) kept.add('small', { key: '0', value: time, size: 10 });
    expect(kept.get('small', '0')).toBe(999);
    expect(keysOf('large').length).toBeGreaterThan(20);
  });

  it('forgets all of one that is too large for it, and goes on', () => {
    kept.add('huge', { key: '0', value: 1, size: 1_000 });
    expect(kept.get('huge', '0')).toBeUndefined();
    expect(keysOf('small')).toEqual([0, 1, 2]);
  });

  it('has those make room first who have asked for nothing for minutes', () => {
    const clock = { minutes: 0 };
    kept = new TenantLru(320, () => clock.minutes * 60_000);
    fill('idle', 3);
    fill('now and then', 3);
    for (; clock.minutes < 30; clock.minutes++) {
      fill('busy', 100);
      kept.get('now and then', '0');
      if (clock.minutes < 10) expect(keysOf('busy').length).toBeLessThan(27);
    }
    expect(keysOf('idle')).toEqual([]);
    expect(keysOf('now and then')).toEqual([0, 1, 2]);
    expect(keysOf('busy').length).toBeGreaterThan(27);
  });

  it('makes room as fast for thousands of owners as for few', () => {
    const owners = 20_000;
    kept = new TenantLru(10 * 3 * owners);
    const add = (from: number, to: number) => {
      for (let key = from; key < to; key++) {
        kept.add(String(key % owners), { key: String(key), value: key, size: 10 });
      }
    };
    add(0, 3 * owners);
    const began = performance.now();
    add(3 * owners, 4 * owners);
    // To look at all of them for every few values takes some three seconds.
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
