// Hashes of passwords, made by the threads themselves.
import { argon2Sync, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { argon2d, argon2i, argon2id } from 'hash-wasm';
import { Passwords } from '../../../../api/auth/passwords/passwords.ts';

const owner = 'masters';
const passwords = new Passwords();
afterAll(() => passwords.close());

describe('a password', () => {
  it('is kept as a PHC string of argon2id with 19 MiB, 2 passes and 1 lane, with a salt of its own', async () => {
    const [a, b] = await Promise.all([passwords.hash(owner, 'the same'), passwords.hash(owner, 'the same')]);
    expect(a).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(a).not.toBe(b);
  });

  it('matches its hash and no other', async () => {
    const hash = await passwords.hash(owner, 'correct horse');
    expect(await passwords.verify(owner, 'correct horse', hash)).toEqual({
      matches: true,
      isOutdated: false,
    });
    for (const wrong of ['correct hors', 'correct horse ', 'Correct horse', '']) {
      expect((await passwords.verify(owner, wrong, hash)).matches).toBe(false);
    }
  });

  it('matches a hash with other parameters, which is told to be outdated', async () => {
    const hash = await argon2id({
      password: 'correct horse',
      salt: Buffer.alloc(16, 7),
      memorySize: 4_096,
      iterations: 3,
      parallelism: 1,
      hashLength: 32,
      outputType: 'encoded',
    });
    expect(await passwords.verify(owner, 'correct horse', hash)).toEqual({ matches: true, isOutdated: true });
    expect(await passwords.verify(owner, 'wrong', hash)).toEqual({ matches: false, isOutdated: true });
  });

  it('matches hashes of all three kinds', async () => {
    const options = {
      password: 'correct horse',
      salt: Buffer.alloc(16, 7),
      hashLength: 24,
      memorySize: 1_024,
    };
    for (const make of [argon2id, argon2i, argon2d]) {
      const hash = await make({ ...options, iterations: 1, parallelism: 2, outputType: 'encoded' });
      expect(await passwords.verify(owner, 'correct horse', hash)).toEqual({
        matches: true,
        isOutdated: true,
      });
      expect(await passwords.verify(owner, 'correct horsf', hash)).toEqual({
        matches: false,
        isOutdated: true,
      });
    }
  });

  it('is the same however its letters are composed', async () => {
    const hash = await passwords.hash(owner, 'caf\u00e9');
    expect((await passwords.verify(owner, 'cafe\u0301', hash)).matches).toBe(true);
  });

  it('never matches where there is no hash, however it is guessed', async () => {
    for (const guess of ['', 'admin', 'A'.repeat(43)]) {
      expect(await passwords.verify(owner, guess, null)).toEqual({ matches: false, isOutdated: false });
      expect(await passwords.verify(owner, guess, undefined)).toEqual({ matches: false, isOutdated: false });
    }
  });

  it('does the work of a check where there is no hash, so that names cannot be told apart by time', async () => {
    const hash = await passwords.hash(owner, 'correct horse');
    const time = async (known: string | null) => {
      const start = performance.now();
      await passwords.verify(owner, 'wrong', known);
      return performance.now() - start;
    };
    const ratios: number[] = [];
    // In turns, so that whatever else the machine does slows both; without the work the ratio is near 0.
    for (let round = 0; round < 11; round++) ratios.push(await time(null) / await time(hash));
    const median = ratios.sort((a, b) => a - b)[5] ?? 0;
    expect(median).toBeGreaterThan(0.3);
    expect(median).toBeLessThan(3);
  });

  it('is hashed in a memory that was used before as in a new one, whatever its size was', async () => {
    const one = new Passwords({ limits: { threads: 1 } });
    const sizes = [19_456, 19_456, 4_096, 65_536, 19_456, 32, 20_000];
    for (const [index, memory] of sizes.entries()) {
      const password = `correct horse ${index}`;
      const hash = hashByNode(password, { memory, passes: 2, parallelism: 1 + index % 2 });
      expect([memory, (await one.verify(owner, password, hash)).matches]).toEqual([memory, true]);
      expect([memory, (await one.verify(owner, 'wrong', hash)).matches]).toEqual([memory, false]);
    }
    await one.close();
  });

  it('takes no more memory after forty others', async () => {
    const one = new Passwords({ limits: { threads: 1 } });
    await one.hash(owner, 'correct horse');
    const before = process.memoryUsage.rss();
    for (let count = 0; count < 40; count++) await one.hash(owner, 'correct horse');
    expect((process.memoryUsage.rss() - before) / 2 ** 20).toBeLessThan(19);
    await one.close();
  });

  it('that is not text for a hash fails the check and not the thread', async () => {
    await expect(passwords.verify(owner, 'x', 'not a hash')).rejects.toThrow(/password thread failed/);
    expect((await passwords.verify(owner, 'x', await passwords.hash(owner, 'x'))).matches).toBe(true);
  });
});

/** Another implementation's PHC string. */
function hashByNode(
  message: string,
  { memory, passes, parallelism }: { memory: number; passes: number; parallelism: number },
): string {
  const nonce = randomBytes(16);
  const tag = argon2Sync('argon2id', { message, nonce, memory, passes, parallelism, tagLength: 32 });
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${salt}$${hash}`;
}

/** Lookups that the test ends, one by one. */
function lookups() {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<{ password_hash: string | null } | undefined>>();
  const find = (name: string) => () => {
    begun.push(name);
    const end = Promise.withResolvers<{ password_hash: string | null } | undefined>();
    ends.set(name, end);
    return end.promise;
  };
  const end = (name: string, hash: string | null = null) => ends.get(name)?.resolve({ password_hash: hash });
  return { begun, ends, find, end };
}

describe('somebody who is looked up for a password', () => {
  it('is so only when it is nearly their turn, first come, first served', async () => {
    const one = new Passwords({ limits: { threads: 1 } });
    const hash = await one.hash(owner, 'x');
    const begun: string[] = [];
    const ended: string[] = [];
    let most = 0;
    const names = Array.from({ length: 12 }, (_, index) => `user ${index}`);
    await Promise.all(names.map(async (name) => {
      const { found, check } = await one.findAndVerify(owner, 'x', () => {
        begun.push(name);
        most = Math.max(most, begun.length - ended.length);
        return Promise.resolve({ name, password_hash: hash });
      });
      ended.push(name);
      expect(found?.name).toBe(name);
      expect(check).toEqual({ matches: true, isOutdated: false });
    }));
    expect(begun).toEqual(names);
    expect(ended).toEqual(names);
    // One under way and two that come next; a fourth was looked up before the end of the first was heard of.
    expect(most).toBeLessThanOrEqual(4);
    await one.close();
  });

  it('is not looked up at all when turned away', async () => {
    const few = new Passwords({ limits: { threads: 1, maxWaiting: 3 } });
    let looked = 0;
    const find = () => Promise.resolve((looked++, undefined));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => few.findAndVerify(owner, 'x', find)),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(4);
    expect(looked).toBe(4);
    await few.close();
  });

  it('holds up nobody else when that takes long, and has their turn afterwards', async () => {
    const one = new Passwords({ limits: { threads: 1, maxWaiting: 3 } });
    const hash = await one.hash(owner, 'x');
    const { find, end, begun } = lookups();
    const stuck = ['a', 'b', 'c', 'd'].map((name) => one.findAndVerify(owner, 'x', find(name)));
    const others = () => one.findAndVerify(owner, 'x', () => Promise.resolve({ password_hash: hash }));
    await expect(others()).rejects.toMatchObject({ code: 'unavailable' });
    await expect.poll(() => begun.length).toBe(4);
    await expect.poll(() => others().then(({ check }) => check.matches, () => false)).toBe(true);
    for (const name of begun) end(name, hash);
    for (const { check } of await Promise.all(stuck)) expect(check.matches).toBe(true);
    await one.close();
  });

  it('and cannot be, is answered so, and the next one is looked up', async () => {
    const one = new Passwords({ limits: { threads: 1 } });
    const failing = Array.from(
      { length: 5 },
      () => one.findAndVerify(owner, 'x', () => Promise.reject(new Error('is locked'))),
    );
    const next = one.findAndVerify(owner, 'x', () => Promise.resolve(undefined));
    for (const failure of failing) await expect(failure).rejects.toThrow('is locked');
    expect((await next).check).toEqual({ matches: false, isOutdated: false });
    await one.close();
  });
});
