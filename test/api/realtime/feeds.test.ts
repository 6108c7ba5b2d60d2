// The feeds of a process: which are kept, how much their logs hold together, how they take turns.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { allOf, join, sameForAll, setUp } from './feed-rig.ts';
import { place } from './rig.ts';

describe('the feeds', () => {
  it('hold nothing of a collection that nobody watches', () => {
    const { watch, write } = setUp();
    write('orders');
    expect(watch('orders').log.newest).toBe(0);
    write('orders');
    expect(watch('orders').log.newest).toBe(1);
  });

  it('shrink the largest logs first, until all together hold no more than allowed', () => {
    const { feeds, watch, write } = setUp({ logsBytes: 40_000 });
    const [small, large] = [watch('small'), watch('large')];
    for (let n = 0; n < 100; n++) write('large', 'x'.repeat(500));
    for (let n = 0; n < 10; n++) write('small', 'x'.repeat(500));
    const before = small.log.bytes;
    feeds.sweep(0);
    expect(large.log.bytes + before).toBeLessThanOrEqual(40_000);
    expect(large.log.bytes).toBeGreaterThan(0);
    expect(small.log.bytes).toBe(before);
  });

  it('hear no more of a collection that they have forgotten, nor of any once they are closed', () => {
    const { feeds, watch, write } = setUp({ unusedMs: 1_000 });
    const forgotten = watch('orders');
    feeds.sweep(0);
    feeds.sweep(1_000);
    write('orders');
    expect(forgotten.log.newest).toBe(0);
    const closed = watch('orders');
    feeds.close();
    write('orders');
    expect(closed.log.newest).toBe(0);
  });

  it('forget a collection some time after its last subscriber left, not before', () => {
    const { feeds, watch, write } = setUp({ unusedMs: 1_000 });
    const { member, stream } = join(watch('orders'));
    feeds.sweep(0);
    feeds.sweep(10_000);
    expect(stream.isOpen).toBe(true);
    member.leave();
    feeds.sweep(10_000);
    feeds.sweep(10_999);
    join(watch('orders')).member.leave();
    feeds.sweep(11_500);
    write('orders');
    feeds.sweep(12_499);
    expect(watch('orders').log.newest).toBe(1);
    feeds.sweep(12_500);
    expect(watch('orders').log.newest).toBe(0);
  });

  it('end the subscriptions of a collection whose name is taken by a new one', () => {
    const { feeds, watch, write } = setUp();
    const { socket, stream } = join(watch('orders'));
    const fresh = feeds.watch({ ...place, collection: 'orders' }, '2');
    write('orders', 'late');
    expect(fresh.log.newest).toBe(0);
    write('orders', 'of the new one', '2');
    expect(fresh.log.newest).toBe(1);
    expect(String(socket.read())).toBe('lost: not_found');
    expect(stream.isOpen).toBe(false);
  });

  it('find their own app and workspace', () => {
    const { feeds } = setUp();
    const topics = [
      { workspace: 'a', app: 'x', collection: 'c' },
      { workspace: 'a', app: 'y', collection: 'c' },
      { workspace: 'b', app: 'x', collection: 'c' },
    ];
    const made = topics.map((topic) => feeds.watch(topic, '1'));
    expect([...feeds.within({ workspace: 'a' })]).toEqual(made.slice(0, 2));
    expect([...feeds.within({ workspace: 'a', app: 'y' })]).toEqual(made.slice(1, 2));
  });
});

describe('a feed', () => {
  it('gives a subscriber that joins amid a burst only what comes after', async () => {
    const { watch, write } = setUp();
    const early = join(watch('orders'));
    write('orders', 'before');
    const late = join(watch('orders'));
    write('orders', 'after');
    while (early.socket.readableLength === 0) await nextTurn();
    expect(allOf(early.socket).match(/before|after/g)).toEqual(['before', 'after']);
    expect(allOf(late.socket).match(/before|after/g)).toEqual(['after']);
  });

  it('joins what waits into writes of bounded size', async () => {
    const { watch, write } = setUp();
    const sizes: number[] = [];
    const { socket } = join(watch('orders'));
    socket.on('data', (chunk: Buffer) => sizes.push(chunk.length));
    for (let n = 0; n < 200; n++) write('orders', 'x'.repeat(1_000));
    while (sizes.reduce((sum, size) => sum + size, 0) < 200_000) {
      await nextTurn();
    }
    expect(sizes.length).toBeLessThan(10);
    expect(Math.max(...sizes)).toBeLessThan(65_536 + 2_000);
  });
});

describe('the fan-out', () => {
  it('serves a quiet feed between the turns of a busy one', async () => {
    const { watch, write, clock } = setUp();
    let now = 0;
    // Each look at the clock ends a turn.
    Object.defineProperty(clock, 'now', { get: () => now += 10 });
    const [busy, quiet] = [watch('busy'), watch('quiet')];
    const crowd = Array.from({ length: 300 }, () => join(busy));
    const one = join(quiet);
    write('busy');
    write('quiet');
    const served = () => crowd.filter(({ socket }) => socket.readableLength > 0).length;
    while (one.socket.readableLength === 0) await nextTurn();
    expect(served()).toBeLessThan(300);
    while (served() < 300) await nextTurn();
  });

  it('serves one workspace after another, however many collections of one have events', async () => {
    const { feeds, watch, write, clock } = setUp();
    let now = 0;
    // Each look at the clock ends a turn.
    Object.defineProperty(clock, 'now', { get: () => now += 10 });
    const names = Array.from({ length: 50 }, (_, number) => `busy${number}`);
    const busy = names.map((name) => join(watch(name)));
    const neighbour = feeds.watch({ ...place, workspace: 'other', collection: 'quiet' }, '1');
    const one = join(neighbour);
    for (const name of names) for (const text of ['first,', 'second,']) write(name, text);
    neighbour.append({ type: 'record_created', record: { text: '' } });
    const served = () => busy.filter(({ socket }) => socket.readableLength > 0).length;
    while (one.socket.readableLength === 0) await nextTurn();
    expect(served()).toBeLessThan(5);
    while (served() < 50) await nextTurn();
    for (const { socket } of busy) {
      expect(allOf(socket).match(/first,|second,/g)).toEqual(['first,', 'second,']);
    }
  });

  it('sends what one has missed between the turns of a crowd that is never done', async () => {
    const { watch, write, clock } = setUp();
    let now = 0;
    // Each look at the clock ends a turn.
    Object.defineProperty(clock, 'now', { get: () => now += 10 });
    const orders = watch('orders');
    for (let member = 0; member < 300; member++) join(orders);
    write('orders', 'missed');
    const late = join(orders, sameForAll, 0);
    for (let turn = 0; turn < 20; turn++) {
      // Large enough for a batch of its own, so that the crowd has one to go on with.
      write('orders', 'x'.repeat(70_000));
      await nextTurn();
    }
    expect(allOf(late.socket)).toContain('missed');
  });

  it('sends what many have missed in turns, until all of them have it', async () => {
    const { watch, write, clock } = setUp();
    let now = 0;
    // Each look at the clock ends a turn.
    Object.defineProperty(clock, 'now', { get: () => now += 10 });
    const orders = watch('orders');
    write('orders', 'missed');
    const crowd = Array.from({ length: 50 }, () => join(orders, sameForAll, 0));
    const served = () => crowd.filter(({ socket }) => socket.readableLength > 0).length;
    await nextTurn();
    expect(served()).toBe(1);
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect(served()).toBe(50);
  });

  it('reaches those who are live also where somebody catches up with it before they have it', async () => {
    const { watch, write } = setUp();
    const orders = watch('orders');
    const live = join(orders);
    write('orders', 'before');
    const late = join(orders, sameForAll, 0);
    write('orders', 'new');
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    for (const { socket } of [live, late]) expect(allOf(socket)).toMatch(/before.*new/s);
  });

  it('lets others have their turn between judgements that take long', async () => {
    const { watch, write, clock } = setUp();
    const orders = watch('orders');
    let judged = 0;
    const passes = () => {
      judged++;
      clock.now += 1_000;
      return true;
    };
    for (let n = 0; n < 100; n++) join(orders, { ...sameForAll, key: String(n), passes });
    write('orders');
    const perTurn: number[] = [];
    for (let before = judged; judged < 100; before = judged) {
      await nextTurn();
      perTurn.push(judged - before);
    }
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(8);
  });
});
