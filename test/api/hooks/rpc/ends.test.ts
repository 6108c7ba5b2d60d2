// A runner that takes nothing, asks for too much at once, or is gone.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { channelPairs } from '../../../harness/channel-pair.ts';
import { encodeFrame } from '../../../harness/frame.ts';

const pair = channelPairs();
const done = (id: number) => ({ type: 'result', id, outcome: 'done', changes: {} });
const call = (id: number, text = 'x') => ({
  type: 'call',
  id,
  parent: 1,
  method: 'users.findOne',
  args: [text],
});
/** More than is handed over at once, and more than the kernel keeps. */
const much = { type: 'result', id: 1, ok: true, value: 'x'.repeat(8_000_000) } as const;

afterEach(() => void vi.useRealTimers());

describe('a channel', () => {
  it('answers no call while the runner does not read, and goes on when it does', async () => {
    const { channel, runner, event, calls } = await pair();
    const outcomes = [event(), event()];
    runner.pause();
    channel.send(much);
    for (const message of [call(1), done(2)]) runner.write(encodeFrame(message));
    expect(await outcomes[1]).toBe('done');
    expect(calls).toEqual([]);
    runner.resume();
    await expect.poll(() => calls).toEqual(['users.findOne']);
    channel.end('closed', 'over');
  });

  it('ends a runner that has read nothing for 5 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { channel, runner, ended } = await pair();
    runner.pause();
    channel.send(much);
    vi.advanceTimersByTime(4_999);
    expect(channel.isOpen).toBe(true);
    vi.advanceTimersByTime(1);
    expect(await ended).toBe('not_reading: the hook runner does not read what it is sent');
  });

  it('reads nothing more while 256 KiB of calls wait', async () => {
    const answered = Promise.withResolvers<null>();
    const { channel, socket, runner, event } = await pair({ response: () => answered.promise });
    const outcomes = [event(), event()];
    for (let id = 1; id <= 11; id++) runner.write(encodeFrame(call(id, 'x'.repeat(100_000))));
    await expect.poll(() => socket.isPaused()).toBe(true);
    runner.write(encodeFrame(done(2)));
    expect(channel.inFlight).toBe(2);
    answered.resolve(null);
    expect(await outcomes[1]).toBe('done');
    channel.end('closed', 'over');
  });

  it('that has ended lets go of the runner, and says so to whoever comes late', async () => {
    const { channel, runner, event } = await pair();
    const closed = new Promise((resolve) => runner.once('close', resolve));
    channel.end('closed', 'over');
    await closed;
    expect(await event()).toBe('the hook runner ended while the hook ran');
  });
});
