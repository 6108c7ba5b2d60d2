// One subscription between the log, its view and its socket: what it sends of what it has missed, and what never.
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { allOf, join, sameForAll, setUp, streamTo } from './feed-rig.ts';

/** Lets the fan-out have some turns. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

describe('a subscription that has missed something', () => {
  it('sends nothing of it while it is reviewed, whatever else happens, and then what its new view passes', async () => {
    const { watch, write } = setUp();
    const orders = watch('orders');
    for (const text of ['secret', 'shown']) write('orders', text);
    const { socket, member } = join(orders, sameForAll, 0);
    member.pause();
    member.skip();
    member.catchUp();
    write('orders', 'secret');
    await turns();
    expect(allOf(socket)).toBe('');
    member.resume({ ...sameForAll, key: 'narrowed', passes: ({ record }) => record.text !== 'secret' });
    await turns();
    expect(allOf(socket).match(/secret|shown|reset/g)).toEqual(['shown']);
  });

  it('sends nothing of it once it has left', async () => {
    const { watch, write } = setUp();
    const orders = watch('orders');
    write('orders', 'missed');
    const { socket, member } = join(orders, sameForAll, 0);
    member.leave();
    member.catchUp();
    await turns();
    expect(allOf(socket)).toBe('');
  });

  it('is told nothing of a loss where it reads from the log what others are too slow for', async () => {
    const { watch, write } = setUp();
    const orders = watch('orders');
    for (const text of ['one', 'two']) write('orders', text);
    const { socket, member } = join(orders, sameForAll, 0);
    member.skip();
    await turns();
    expect(allOf(socket).match(/one|two|reset/g)).toEqual(['one', 'two']);
  });

  it('is told once where the log holds it no longer, and goes on from there', async () => {
    const { watch, write } = setUp({ log: { events: 3, bytes: 1_000_000 } });
    const orders = watch('orders');
    write('orders', 'missed');
    const { socket } = join(orders, sameForAll, 0);
    for (let n = 0; n < 4; n++) write('orders', 'lost');
    await turns();
    write('orders', 'next');
    await turns();
    expect(allOf(socket).match(/missed|lost|next|reset/g)).toEqual(['reset', 'next']);
  });

  it('waits while its socket is full of what others on its stream have missed', async () => {
    const { watch, write } = setUp();
    const orders = watch('orders');
    for (let n = 0; n < 3; n++) write('orders', 'x'.repeat(70_000));
    const socket = new PassThrough();
    const stream = streamTo(socket);
    const ids = Array.from({ length: 10 }, (_, n) => `s${n}`);
    for (const id of ids) {
      const options = {
        id,
        stream,
        filter: undefined,
        view: sameForAll,
        position: 0,
        onLeft: () => undefined,
      };
      orders.join(options).catchUp();
    }
    await turns();
    expect(stream.isOpen).toBe(true);
    let all = '';
    for (let turn = 0; turn < 100; turn++) {
      all += allOf(socket);
      await nextTurn();
    }
    expect(all.match(/record_created/g)).toHaveLength(3 * ids.length);
  });
});

describe('a subscription whose collection was written in bulk', () => {
  it('gets one reset in the place of what it has not sent, and goes on from there', async () => {
    const { watch, write, writeInBulk } = setUp();
    const orders = watch('orders');
    write('orders', 'missed');
    const behind = join(orders, sameForAll, 0);
    const live = join(orders);
    await turns();
    write('orders', 'seen');
    await turns();
    writeInBulk('orders');
    await turns();
    write('orders', 'next');
    await turns();
    expect(allOf(behind.socket).match(/missed|seen|next|reset/g)).toEqual([
      'missed',
      'seen',
      'reset',
      'next',
    ]);
    expect(allOf(live.socket).match(/missed|seen|next|reset/g)).toEqual(['seen', 'reset', 'next']);
  });

  it('gets it after it was re-authorized', async () => {
    const { watch, writeInBulk } = setUp();
    const { socket, member } = join(watch('orders'));
    member.pause();
    writeInBulk('orders');
    await turns();
    expect(allOf(socket)).toBe('');
    member.resume(sameForAll);
    await turns();
    expect(allOf(socket)).toBe('reset');
  });
});
