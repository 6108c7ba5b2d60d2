// Invocations that do not end in time, and how the API finds out whether their runner is still there.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { channelPairs } from '../../../harness/channel-pair.ts';
import { encodeFrame } from '../../../harness/frame.ts';

const pair = channelPairs();
const done = (id: number) => ({ type: 'result', id, outcome: 'done', changes: {} });

// A busy machine would be late with responses that are due in some milliseconds.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

describe('a channel', () => {
  it('cancels what is late, and kills a runner that does not respond a ping in 250 ms', async () => {
    const { event, channel, ended, received } = await pair();
    const late = event(50);
    vi.advanceTimersByTime(50);
    expect(await late).toBe('the hook did not finish in time');
    while (received.length < 3) await nextTurn();
    expect(received.map(({ type }) => type)).toEqual(['cancel', 'cancel', 'ping']);
    vi.advanceTimersByTime(249);
    expect(channel.isOpen).toBe(true);
    vi.advanceTimersByTime(1);
    expect(await ended).toMatch(/^timeout: /);
  });

  it('keeps a runner that answers the ping, and drops what comes late', async () => {
    const { event, channel, received, runner } = await pair();
    const late = event(20);
    vi.advanceTimersByTime(20);
    expect(await late).toBe('the hook did not finish in time');
    while (received.length < 3) await nextTurn();
    runner.write(encodeFrame({ type: 'pong', id: received[2]?.['id'] }));
    runner.write(encodeFrame(done(1)));
    const next = event();
    runner.write(encodeFrame(done(3)));
    expect(await next).toBe('done');
    expect(channel.isOpen).toBe(true);
    channel.end('closed', 'over');
  });

  it('asks a runner once whether it is still there, however many wait in vain', async () => {
    const { event, channel, received, runner } = await pair();
    const late = [event(20), event(40)];
    vi.advanceTimersByTime(40);
    await Promise.all(late);
    const pings = () => received.filter(({ type }) => type === 'ping');
    while (received.length < 5) await nextTurn();
    expect(pings().length).toBe(1);
    runner.write(encodeFrame({ type: 'pong', id: pings()[0]?.['id'] }));
    while (channel.responsiveness !== undefined) await nextTurn();
    vi.advanceTimersByTime(1_000);
    expect(channel.isOpen).toBe(true);
    channel.end('closed', 'over');
  });

  it('is in doubt about a runner that does not respond the ping at once, before it ends it', async () => {
    const { event, channel } = await pair();
    const late = event(20);
    expect(channel.responsiveness).toBeUndefined();
    vi.advanceTimersByTime(20);
    await late;
    vi.advanceTimersByTime(25);
    expect(await channel.responsiveness).toBe(false);
    expect(channel.isOpen).toBe(true);
    channel.end('closed', 'over');
  });

  it('gives a response that streams another deadline', async () => {
    const { event, channel } = await pair();
    const outcome = event(20);
    channel.extend(1, performance.now() + 60_000);
    const late = event(40);
    vi.advanceTimersByTime(40);
    expect(await late).toBe('the hook did not finish in time');
    expect(channel.inFlight).toBe(1);
    channel.end('closed', 'over');
    await outcome;
  });
});
