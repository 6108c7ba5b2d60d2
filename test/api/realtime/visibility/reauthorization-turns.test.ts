// Re-authorization in turns: how often a subscription is authorized, and which apps wait for which.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AuthorizedView, RealtimeGate } from '../../../../api/realtime/ports.ts';
import { Reauthorizer } from '../../../../api/realtime/visibility/reauthorize.ts';
import { join, sameForAll, setUp } from '../feed-rig.ts';
import { place } from '../rig.ts';

describe('a review', () => {
  it('asks once for a subscription that changed several times while it waited', async () => {
    const { watch } = setUp();
    const [first, second] = [join(watch('orders')), join(watch('orders'))];
    let asked = 0;
    const waiting = Promise.withResolvers<void>();
    const reviewer = reviewerWith(async () => {
      asked++;
      await waiting.promise;
      return sameForAll;
    });
    reviewer.add([first.member, second.member]);
    for (let times = 0; times < 5; times++) reviewer.add([second.member]);
    waiting.resolve();
    while (asked < 2) await nextTurn();
    await nextTurn();
    expect(asked).toBe(2);
    reviewer.add([first.member]);
    await nextTurn();
    expect(asked).toBe(3);
  });

  it('gives no stream what somebody may see whose token it no longer has', async () => {
    const { watch } = setUp();
    const { stream, member } = join(watch('orders'));
    const opening = Promise.withResolvers<AuthorizedView>();
    reviewerWith(() => opening.promise).add([member]);
    const principal = { role: 'user', id: 'another', jti: 'other', issuedAt: 0, expiresAt: 0 } as const;
    stream.holder = { ...stream.holder, principal };
    const before = member.view;
    opening.resolve({ ...sameForAll, key: 'of before' });
    await nextTurn();
    expect(member.view).toBe(before);
    expect(stream.isOpen).toBe(true);
  });

  it('of many subscriptions lets others have their turn between them, and comes to its end', async () => {
    const { watch, clock } = setUp();
    const orders = watch('orders');
    let asked = 0;
    const reviewer = reviewerWith(() => {
      asked++;
      // As long as a turn may be.
      clock.now += 8;
      return sameForAll;
    }, clock);
    reviewer.add(Array.from({ length: 20 }, () => join(orders).member));
    const perTurn: number[] = [];
    for (let before = asked; asked < 20; before = asked) {
      await nextTurn();
      perTurn.push(asked - before);
    }
    expect(Math.max(...perTurn)).toBe(1);
  });

  it('waits for no app of the same id in another workspace', async () => {
    const { feeds, watch } = setUp();
    const here = join(watch('orders'));
    const there = join(feeds.watch({ ...place, workspace: 'elsewhere', collection: 'orders' }, '1'));
    const asked: string[] = [];
    const reviewer = reviewerWith(({ topic: { workspace } }) => {
      asked.push(workspace);
      return new Promise(() => undefined);
    });
    reviewer.add([here.member, there.member]);
    await nextTurn();
    expect(asked).toEqual([place.workspace, 'elsewhere']);
  });
});

/** A reviewer that finds out what subscriptions may see in this way. */
function reviewerWith(open: RealtimeGate['authorize'], clock = { now: 0 }): Reauthorizer {
  const gate: RealtimeGate = {
    authorize: open,
    facts: () => Promise.resolve(undefined),
    tokenState: () => 'good',
    onDefinitionChange: () => () => undefined,
  };
  return new Reauthorizer({ gate, now: () => clock.now, report: () => undefined });
}
