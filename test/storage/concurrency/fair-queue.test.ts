// Work of which only some is under way at a time, shared fairly between its owners.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FairQueue, QueueRefusal, type Refusal } from '../../../storage/concurrency/fair-queue.ts';

it('lets as many through at once as it says, the others in their order, and is not held by one that fails', async () => {
  const queue = new FairQueue({ slots: 4 });
  const begun: number[] = [];
  const ends = Array.from({ length: 7 }, () => Promise.withResolvers<string>());
  const outcomes = ends.map(({ promise }, index) =>
    queue.run(() => {
      begun.push(index);
      return promise;
    }).catch((error: Error) => error.message)
  );
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]?.reject(new Error('no space'));
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  ends[0]?.resolve('done');
  ends[4]?.resolve('done');
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  for (const { resolve } of ends) resolve('done');
  expect(await Promise.all(outcomes)).toEqual(['done', 'done', 'no space', 'done', 'done', 'done', 'done']);
  let later = 0;
  for (let work = 0; work < 7; work++) {
    void queue.run(() => {
      later++;
      return Promise.withResolvers<void>().promise;
    });
  }
  await nextTurn();
  expect(later).toBe(4);
});

it('lets nobody in between two turns, at whichever moment somebody asks', async () => {
  for (let depth = 0; depth < 12; depth++) {
    const queue = new FairQueue({ slots: 1 });
    const end = Promise.withResolvers<void>();
    let atWork = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++atWork);
      await nextTurn();
      atWork--;
    };
    const first = queue.run(() => end.promise);
    const second = queue.run(work);
    const later = async () => {
      for (let step = 0; step < depth; step++) await undefined;
      await queue.run(work);
    };
    end.resolve();
    await Promise.all([first, second, later()]);
    expect([depth, most]).toEqual([depth, 1]);
  }
});

it('has owners take turns, however much of one waits', async () => {
  const queue = new FairQueue({ slots: 1 });
  const end = Promise.withResolvers<void>();
  const done: string[] = [];
  const works = ['loud', 'loud', 'loud', 'loud', 'a', 'a', 'b'].map((owner) =>
    queue.run(async () => {
      await end.promise;
      done.push(owner);
    }, owner)
  );
  end.resolve();
  await Promise.all(works);
  expect(done).toEqual(['loud', 'a', 'b', 'loud', 'a', 'loud', 'loud']);
});

describe('owners', () => {
  it('hold no more than their share; the next slot is of the one that holds fewest', async () => {
    const queue = new FairQueue({ slots: 4, perOwner: 2 });
    expect([queue.tryAcquire('a'), queue.tryAcquire('a'), queue.tryAcquire('a')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([queue.tryAcquire('b'), queue.tryAcquire('b')]).toEqual([true, true]);
    const admitted: string[] = [];
    const wait = (owner: string) => void queue.acquire(owner)?.then(() => admitted.push(owner));
    for (const owner of ['a', 'b', 'c', 'c', 'd']) wait(owner);
    for (const owner of ['a', 'b', 'b']) queue.release(owner);
    await nextTurn();
    expect(admitted).toEqual(['c', 'd', 'b']);
  });

  it('wait in their order, but for who is put first', async () => {
    const queue = new FairQueue({ slots: 1 });
    queue.tryAcquire();
    const admitted: number[] = [];
    const wait = (place: number, first: boolean) =>
      void queue.acquire('', { first })?.then(() => admitted.push(place));
    wait(1, false);
    wait(2, false);
    wait(3, true);
    for (let turn = 0; turn < 3; turn++) queue.release();
    await nextTurn();
    expect(admitted).toEqual([3, 1, 2]);
  });
});

describe('refusals', () => {
  const refuse = (refusal: Refusal) => new Error(refusal);
  const outcome = (admitted: void | Promise<void>) =>
    Promise.resolve(admitted).then(() => 'admitted', ({ message }: Error) => message);

  it('are for the owner that has most waiting when the queue is full', async () => {
    const queue = new FairQueue({ slots: 1, maxWaiting: 3, refuse });
    queue.tryAcquire('a');
    const waiting = [1, 2, 3].map(() => outcome(queue.acquire('a')));
    expect(() => queue.acquire('a')).toThrow('full');
    const other = outcome(queue.acquire('b'));
    expect(await waiting[2]).toBe('full');
    expect(() => queue.acquire('b')).toThrow('full');
    for (let turn = 0; turn < 3; turn++) queue.release(turn === 1 ? 'b' : 'a');
    expect(await Promise.all([...waiting, other])).toEqual(['admitted', 'admitted', 'full', 'admitted']);
  });

  it('come when somebody has waited for too long, and leave the slots to the others', async () => {
    const queue = new FairQueue({ slots: 1, timeoutMs: 5, refuse });
    queue.tryAcquire();
    expect(await outcome(queue.acquire())).toBe('late');
    queue.release();
    expect(queue.tryAcquire()).toBe(true);
  });

  it('come to all who wait when it closes, and to all who come later', async () => {
    const queue = new FairQueue({ slots: 0 });
    const waiting = [queue.acquire('a'), queue.acquire('b')];
    queue.close();
    for (const each of waiting) await expect(each).rejects.toBeInstanceOf(QueueRefusal);
    expect(() => queue.acquire('c')).toThrow(QueueRefusal);
  });
});

it('has as many slots as it is said to have when they are asked for', async () => {
  let slots = 1;
  const queue = new FairQueue({ slots: () => slots });
  expect([queue.tryAcquire(), queue.tryAcquire()]).toEqual([true, false]);
  const waiting = queue.acquire();
  slots = 2;
  queue.advance();
  await waiting;
  slots = 1;
  queue.release();
  expect(queue.tryAcquire()).toBe(false);
});

describe('clients of an owner', () => {
  /** The order in which clients get the only slot, when all have asked for it while it was taken. */
  async function orderOf(clients: readonly string[], maxWaiting = Infinity): Promise<string[]> {
    const queue = new FairQueue({ slots: 1, maxWaiting, refuse: (refusal) => new Error(refusal) });
    queue.acquire('a');
    const order: string[] = [];
    const all = clients.map(async (client) => {
      try {
        await queue.acquire('a', { client });
        order.push(client);
        queue.release('a');
      } catch {
        order.push(`not ${client}`);
      }
    });
    await nextTurn();
    queue.release('a');
    await Promise.all(all);
    return order;
  }

  it('take turns, each in the order of its own', async () => {
    expect(await orderOf(['x', 'x', 'x', 'x', 'y', 'y', 'z'])).toEqual(['x', 'y', 'z', 'x', 'y', 'x', 'x']);
  });

  it('take places of a full queue from the one that has most, and from nobody else', async () => {
    expect(await orderOf(['x', 'x', 'x', 'y', 'z', 'y'], 3))
      .toEqual(['not y', 'not x', 'not x', 'x', 'y', 'z']);
  });
});
