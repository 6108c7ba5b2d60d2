// Invocations with large frames on one channel: which of them wait for others, and what lets them go on.
import { describe, expect, it } from 'vitest';
import type { Channel } from '../../../../api/hooks/rpc/channel.ts';
import { UnaryInvocation } from '../../../../api/hooks/rpc/unary-invocation.ts';
import { channelPairs } from '../../../harness/channel-pair.ts';
import { encodeFrame } from '../../../harness/frame.ts';

const pair = channelPairs();
const done = (id: number) => ({ type: 'result', id, outcome: 'done', changes: {} });

/** Two of these are more than a runner has at once. */
const name = 'x'.repeat(9_000_000);

function beginLarge(channel: Channel, isNested = false): number {
  const asked = new UnaryInvocation(performance.now() + 60_000, () => Promise.resolve(null));
  asked.result.catch(() => 'of no interest');
  return channel.begin(
    asked,
    (id) => ({ type: 'cron', id, name, scheduled_at: '', request_id: '' }),
    isNested,
  );
}

/** A channel on which the first of two has begun, and the second waits. `sent`: what the runner was sent, in order. */
async function withOneWaiting() {
  const made = await pair();
  const { channel, received } = made;
  const sent = () => received.map(({ type, id }) => `${String(type)} ${String(id)}`);
  beginLarge(channel);
  beginLarge(channel);
  // Sent after both, and small: once it is there, the second would be.
  channel.send({ type: 'ping', id: 9 });
  await expect.poll(sent).toEqual(['cron 1', 'ping 9']);
  return { ...made, sent };
}

describe('a large invocation', () => {
  it('waits until the one before it is answered', async () => {
    const { channel, runner, sent } = await withOneWaiting();
    runner.write(encodeFrame(done(1)));
    await expect.poll(sent).toEqual(['cron 1', 'ping 9', 'cron 2']);
    channel.end('closed', 'over');
  });

  it('waits until nobody waits for the one before it', async () => {
    const { channel, sent } = await withOneWaiting();
    channel.cancel(1);
    await expect.poll(sent).toEqual(['cron 1', 'ping 9', 'cron 2', 'cancel 1']);
    channel.end('closed', 'over');
  });

  it('waits for none whose response streams', async () => {
    const { channel, sent } = await withOneWaiting();
    channel.extend(1, performance.now() + 60_000);
    await expect.poll(sent).toEqual(['cron 1', 'ping 9', 'cron 2']);
    channel.end('closed', 'over');
  });

  it('that another one waits for does not wait for that one', async () => {
    const { channel, sent } = await withOneWaiting();
    beginLarge(channel, true);
    await expect.poll(sent).toEqual(['cron 1', 'ping 9', 'cron 3']);
    channel.end('closed', 'over');
  });

  it('that is cancelled while it waits was never heard of, and no response to it is', async () => {
    const { channel, runner, ended, sent } = await withOneWaiting();
    channel.cancel(2);
    channel.cancel(1);
    await expect.poll(sent).toEqual(['cron 1', 'ping 9', 'cancel 1']);
    runner.write(encodeFrame(done(2)));
    expect(await ended).toBe('protocol_error: the hook runner sent a result that nobody asked for');
  });
});
