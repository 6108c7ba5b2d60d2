// Ended streams and subscriptions release their memory.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Backlog, type Outlet } from '../../../api/realtime/delivery/backlog.ts';
import { StreamQuota } from '../../../api/realtime/stream-quota.ts';
import { Sink } from '../../../api/realtime/delivery/sink.ts';
import { collectAll, heldBytes } from '../../harness/old-objects.ts';
import { join, setUp } from './feed-rig.ts';
import { Slow } from './slow-socket.ts';

/** What is made and let go of many thousand times may hold so much afterwards. */
const little = 1_048_576;

/** Whether something is still held. A reference that was just made or looked at holds it until the turn is over. */
async function isHeld(reference: WeakRef<object>): Promise<boolean> {
  await nextTurn();
  collectAll();
  return reference.deref() !== undefined;
}

describe('nothing is held', () => {
  it('of a subscription that has left while others stay', async () => {
    const feed = setUp().watch('orders');
    join(feed);
    const left = () => {
      const { member } = join(feed);
      member.leave();
      return new WeakRef(member);
    };
    expect(await isHeld(left())).toBe(false);
    expect(feed.subscriptions.size).toBe(1);
  });

  it('of a stream for which nothing waits any more while others do', async () => {
    const backlog = new Backlog(10_000);
    const bounds = { waitingBytes: 1_000, stallMs: 10_000 };
    const waiting = () => {
      const socket = new Slow();
      const sink = new Sink(socket, { workspace: 'acme', bounds, backlog });
      sink.write([Buffer.alloc(10)]);
      return { socket, sink };
    };
    const staying = waiting();
    const drained = async () => {
      const { socket, sink } = waiting();
      socket.send();
      await nextTurn();
      sink.isStalled(0);
      return new WeakRef(sink);
    };
    expect(await isHeld(await drained())).toBe(false);
    expect(staying.sink.isStalled(0)).toBe(false);
  });

  it('of workspaces for whose streams nothing waits any more', () => {
    const backlog = new Backlog(10_000);
    const bytes = Buffer.alloc(1);
    const before = heldBytes();
    for (let number = 0; number < 50_000; number++) {
      const outlet: Outlet = { workspace: `w${number}`, written: 1, sent: 0, cut: () => undefined };
      backlog.add(outlet, bytes);
      backlog.settle(outlet, 1);
    }
    expect(heldBytes() - before).toBeLessThan(little);
    backlog.settle({ workspace: '', written: 0, sent: 0, cut: () => undefined });
  });

  it('of principals and addresses that have no stream any more', () => {
    const seats = new StreamQuota({ perPrincipal: 1, perAddress: 1 });
    const before = heldBytes();
    for (let number = 0; number < 50_000; number++) {
      const principal = { role: 'user', id: `${number}`, jti: '', issuedAt: 0, expiresAt: 0 } as const;
      seats.claim({ principal, address: `${number}`, query: {} }).release();
    }
    expect(heldBytes() - before).toBeLessThan(little);
    seats.claim({ principal: null, address: '', query: {} });
  });
});
