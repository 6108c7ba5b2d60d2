// The token bucket, with a clock of the test's own: refilling is waited for nowhere.
import { describe, expect, it } from 'vitest';
import { networkOf } from '../../../api/http/client-network.ts';
import { rateLimit } from '../../../api/pipeline/rate-limit.ts';

const options = { enabled: true, per_second: 50, burst: 100 };

function passed(limit: ReturnType<typeof rateLimit>, ip: string, now: number, times: number): number {
  return Array.from({ length: times }, () => limit(ip, now)).filter((wait) => wait === 0).length;
}

describe('the rate limit', () => {
  it('lets a burst pass, then what refills', () => {
    const limit = rateLimit(options);
    expect(passed(limit, '192.0.2.1', 0, 150)).toBe(100);
    expect(passed(limit, '192.0.2.1', 100, 10)).toBe(5);
    expect(passed(limit, '192.0.2.1', 60_000, 150)).toBe(100);
  });

  it('tells how many seconds to wait, at least one', () => {
    const limit = rateLimit({ ...options, per_second: 0.1, burst: 1 });
    expect(limit('192.0.2.1', 0)).toBe(0);
    expect(limit('192.0.2.1', 0)).toBe(10);
    expect(limit('192.0.2.1', 9_500)).toBe(1);
    expect(limit('192.0.2.1', 10_000)).toBe(0);
    expect(rateLimit({ ...options, burst: 0 })('192.0.2.1', 0)).toBe(1);
  });

  it('counts each address for itself', () => {
    const limit = rateLimit(options);
    expect(passed(limit, '192.0.2.1', 0, 150)).toBe(100);
    expect(passed(limit, '192.0.2.2', 0, 150)).toBe(100);
  });

  it('does not refill when the clock is set back, and goes on refilling from there', () => {
    const limit = rateLimit(options);
    expect(passed(limit, '192.0.2.1', 60_000, 150)).toBe(100);
    expect(passed(limit, '192.0.2.1', 0, 10)).toBe(0);
    expect(passed(limit, '192.0.2.1', 100, 10)).toBe(5);
  });

  it('lets everything pass when it is switched off', () => {
    expect(passed(rateLimit({ ...options, enabled: false }), '192.0.2.1', 0, 1_000)).toBe(1_000);
  });

  it('holds a bounded number of addresses, and goes on limiting', () => {
    const limit = rateLimit({ ...options, burst: 2 });
    for (let at = 0; at < 150_000; at++) limit(`host-${at}`, 0);
    expect(passed(limit, 'host-149999', 0, 5)).toBe(1);
    // The oldest is forgotten, so it begins anew.
    expect(passed(limit, 'host-0', 0, 5)).toBe(2);
  });

  it('deletes full buckets before the oldest', () => {
    const limit = rateLimit({ ...options, per_second: 1, burst: 10 });
    expect(passed(limit, 'oldest', 0, 20)).toBe(10);
    for (let at = 1; at < 100_000; at++) limit(`host-${at}`, 0);
    limit('another', 2_000);
    expect(passed(limit, 'oldest', 2_000, 20)).toBe(2);
  });
});

describe('auth.ip-key: the bucket of an address', () => {
  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8:1:2::1', '2001:0db8:0001:0002:0000:0000:0000:0002'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
    ['::1', '0:0:0:0:0:0:0:2'],
  ])('is the same for %s and %s', (first, second) => {
    expect(networkOf(first)).toBe(networkOf(second));
  });

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['2001:db8::1', '2001:db9::1'],
    ['192.0.2.1', '192.0.2.2'],
    ['2001:db8:0:0:1::', '2001:db8:0:1::'],
  ])('differs for %s and %s', (first, second) => {
    expect(networkOf(first)).not.toBe(networkOf(second));
  });
});
