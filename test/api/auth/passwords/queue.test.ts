// Who waits for a password to be hashed, and for how long.
import { describe, expect, it } from 'vitest';
import { type PasswordOwner, Passwords } from '../../../../api/auth/passwords/passwords.ts';
import { ApiError } from '../../../../api/errors.ts';

const owner = 'masters';

describe('the queue of passwords', () => {
  it('turns away with 503 and Retry-After what does not fit, and does the rest', async () => {
    const few = new Passwords({ limits: { threads: 1, maxWaiting: 3 } });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => few.hash(owner, 'x')));
    const refused = outcomes.flatMap((outcome) => outcome.status === 'rejected' ? [outcome.reason] : []);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    for (const error of refused) {
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: 'unavailable', headers: [['Retry-After', '2']] });
    }
    await few.close();
  });

  it('turns away late, so that nobody asks again at once', async () => {
    const few = new Passwords({ limits: { threads: 1, maxWaiting: 1, refusalMs: 300 } });
    const began = performance.now();
    const hashes = Array.from({ length: 8 }, () => few.hash(owner, 'x'));
    const all = Promise.allSettled(hashes);
    await expect(hashes.at(-1)).rejects.toMatchObject({ code: 'unavailable' });
    expect(performance.now() - began).toBeGreaterThan(290);
    await all;
    await few.close();
  });

  it('turns away what has waited too long', async () => {
    const slow = new Passwords({ limits: { threads: 1, maxWaitMs: 1 } });
    const [first, second, third] = [slow.hash(owner, 'x'), slow.hash(owner, 'x'), slow.hash(owner, 'x')];
    await expect(third).rejects.toMatchObject({ code: 'unavailable' });
    for (const hash of [first, second]) await expect(hash).resolves.toMatch(/^\$argon2id/);
    await slow.close();
  });

  it('leaves a core to other requests while there are some, and only then', async () => {
    const threadsWhen = async (isServerBusy: () => boolean) => {
      const some = new Passwords({ isServerBusy, limits: { threads: 2 } });
      let threads = 0;
      const count = () => threads++;
      process.on('worker', count);
      await Promise.all(Array.from({ length: 4 }, () => some.hash(owner, 'x')));
      process.off('worker', count);
      await some.close();
      return threads;
    };
    const [busy, idle] = [await threadsWhen(() => true), await threadsWhen(() => false)];
    expect([busy, idle]).toEqual([1, 2]);
  });

  it('rejects what is under way when it closes', async () => {
    const closing = new Passwords({ limits: { threads: 1 } });
    const outcomes = Promise.allSettled([closing.hash(owner, 'x'), closing.hash(owner, 'y')]);
    await closing.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('owners of passwords', () => {
  /** Has passwords hashed for these owners, all asked for at once; answers who was served, in that order, and who was not. */
  async function outcomeOf(
    owners: readonly PasswordOwner[],
    waiting: number,
  ): Promise<{ served: PasswordOwner[]; refused: PasswordOwner[] }> {
    const one = new Passwords({ limits: { threads: 1, maxWaiting: waiting } });
    const served: PasswordOwner[] = [];
    const refused: PasswordOwner[] = [];
    await Promise.all(
      owners.map((name) => one.hash(name, 'x').then(() => served.push(name), () => refused.push(name))),
    );
    await one.close();
    return { served, refused };
  }
  const [a, b, c] = ['users of a', 'users of b', 'admins of a'] as const;
  const times = (count: number, name: PasswordOwner): PasswordOwner[] =>
    Array.from({ length: count }, () => name);

  it('take turns, however many of one were there first', async () => {
    const { served, refused } = await outcomeOf([...times(6, a), ...times(2, b), c], 20);
    // The first of all found nobody in line.
    expect(served).toEqual([a, a, b, c, a, b, a, a, a]);
    expect(refused).toEqual([]);
  });

  it('take places of a full line from the one that has most, and from nobody else', async () => {
    const { served, refused } = await outcomeOf([...times(6, a), ...times(4, b), c, ...times(3, a)], 5);
    expect(served.toSorted()).toEqual([...times(3, a), ...times(2, b), c].toSorted());
    expect(refused.toSorted()).toEqual([...times(6, a), ...times(2, b)].toSorted());
  });
});
