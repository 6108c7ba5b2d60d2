// How long a cache for thousands of owners takes to evict.
import { expect, it } from 'vitest';
import { TenantLru } from '../../../../api/records/cache/tenant-lru.ts';

it('evicts as fast for thousands of owners as for few', () => {
  const owners = 20_000;
  const cache = new TenantLru<number>(10 * 3 * owners);
  const add = (from: number, to: number) => {
    for (let key = from; key < to; key++) {
      cache.add(String(key % owners), { key: String(key), value: key, size: 10 });
    }
  };
  add(0, 3 * owners);
  const began = performance.now();
  add(3 * owners, 4 * owners);
  // To pass all owners for every few values takes some three seconds.
  expect(performance.now() - began).toBeLessThan(1_000);
});
