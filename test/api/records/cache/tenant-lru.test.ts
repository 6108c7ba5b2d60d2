// A cache for several owners: whose values are evicted for whom.
import { beforeAll, describe, expect, it } from 'vitest';
import { TenantLru } from '../../../../api/records/cache/tenant-lru.ts';

describe('a cache for several owners', () => {
  let cache: TenantLru<number>;
  const keysOf = (owner: string) =>
    Array.from({ length: 100 }, (_unused, key) => key).filter((key) =>
      cache.get(owner, String(key)) !== undefined
    );
  const fill = (owner: string, count: number) => {
    for (let key = 0; key < count; key++) cache.add(owner, { key: String(key), value: key, size: 10 });
  };

  beforeAll(() => {
    cache = new TenantLru(320);
  });

  it('evicts values of the owner with the most', () => {
    fill('small', 3);
    fill('large', 100);
    expect(keysOf('small')).toEqual([0, 1, 2]);
    expect(keysOf('large').length).toBeGreaterThan(20);
    expect(keysOf('large').length).toBeLessThan(30);
    expect(keysOf('large')).toContain(99);
  });

  it('counts a value that is replaced once', () => {
    for (let time = 0; time < 1_000; time++) cache.add('small', { key: '0', value: time, size: 10 });
    expect(cache.get('small', '0')).toBe(999);
    expect(keysOf('large').length).toBeGreaterThan(20);
  });

  it('evicts at once what is larger than itself, and goes on', () => {
    cache.add('huge', { key: '0', value: 1, size: 1_000 });
    expect(cache.get('huge', '0')).toBeUndefined();
    expect(keysOf('small')).toEqual([0, 1, 2]);
  });

  it('evicts first what belongs to owners who have asked for nothing for minutes', () => {
    const clock = { minutes: 0 };
    cache = new TenantLru(320, () => clock.minutes * 60_000);
    fill('idle', 3);
    fill('now and then', 3);
    for (; clock.minutes < 30; clock.minutes++) {
      fill('busy', 100);
      cache.get('now and then', '0');
      if (clock.minutes < 10) expect(keysOf('busy').length).toBeLessThan(27);
    }
    expect(keysOf('idle')).toEqual([]);
    expect(keysOf('now and then')).toEqual([0, 1, 2]);
    expect(keysOf('busy').length).toBeGreaterThan(27);
  });
});
