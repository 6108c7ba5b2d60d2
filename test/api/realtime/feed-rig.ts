// Feeds without a server: what is written to them, and the sockets of those who watch.
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { Backlog } from '../../../api/realtime/delivery/backlog.ts';
import { type Bounds, defaultBounds } from '../../../api/realtime/bounds.ts';
import { InProcessBroker } from '../../../api/realtime/broker.ts';
import { bulkChange } from '../../../api/realtime/event.ts';
import type { Feed } from '../../../api/realtime/feed.ts';
import { Feeds } from '../../../api/realtime/feeds.ts';
import type { AuthorizedView } from '../../../api/realtime/ports.ts';
import { Sink } from '../../../api/realtime/delivery/sink.ts';
import { Stream } from '../../../api/realtime/stream.ts';
import type { Subscription } from '../../../api/realtime/subscription.ts';
import { place } from './rig.ts';

/** What passes everybody the same. */
export const sameForAll: AuthorizedView = { key: '', incarnation: '1', passes: () => true };

/** Feeds by themselves, of collections that a test watches and writes to; their clock is the test's. */
export function setUp(bounds: Partial<Bounds> = {}) {
  const broker = new InProcessBroker((error) => {
    throw error;
  });
  const clock = { now: 0 };
  const feeds = new Feeds({
    broker,
    now: () => clock.now,
    cursorKey: randomBytes(16),
    bounds: { ...defaultBounds, ...bounds },
    onFailure: () => undefined,
  });
  const topic = (collection: string) => ({ ...place, collection });
  return {
    feeds,
    clock,
    writeInBulk: (collection: string) =>
      broker.publish({ ...topic(collection), incarnation: '1' }, bulkChange),
    watch: (collection: string) => feeds.watch(topic(collection), '1'),
    write: (collection: string, text = '', incarnation = '1') =>
      broker.publish({ ...topic(collection), incarnation }, {
        type: 'record_created',
        record: { text },
      }),
  };
}

/** A stream of one subscription to a socket. */
export function streamTo(socket: PassThrough): Stream {
  return new Stream({
    place,
    holder: { principal: null, address: '', query: {} },
    sink: new Sink(socket, {
      workspace: place.workspace,
      bounds: defaultBounds.sink,
      backlog: new Backlog(defaultBounds.backlogBytes),
    }),
    wire: {
      isSingle: true,
      ping: undefined,
      events: ({ frames }) => frames,
      reset: () => Buffer.from('reset'),
      failed: () => undefined,
      lost: (_id, { code }) => Buffer.from(`lost: ${code}`),
      close: () => socket.end(),
    },
    pingAt: 0,
    onGone: () => undefined,
  });
}

/** Has a stream of its own watch a feed, from what is newest unless it has missed something. */
export function join(
  feed: Feed,
  view = sameForAll,
  position = feed.log.newest,
): { stream: Stream; socket: PassThrough; member: Subscription } {
  const socket = new PassThrough();
  const stream = streamTo(socket);
  const member = feed.join({ id: '', stream, filter: undefined, view, position, onLeft: () => undefined });
  stream.subscriptions.set('', member);
  member.catchUp();
  return { stream, socket, member };
}

/** What was written to a socket by now. */
export function allOf(socket: PassThrough): string {
  let all = '';
  for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) all += chunk;
  return all;
}
