// Which bytes of events are copied, and which are shared by all who get them.
import { expect, it } from 'vitest';
import { encodeEvent } from '../../../../api/realtime/event.ts';
import { Packet } from '../../../../api/realtime/delivery/packet.ts';
import { eventMessage } from '../../../../api/realtime/websocket/messages.ts';

const cursor = 'c'.repeat(16);
const small = [1, 2].map((n) =>
  encodeEvent({ type: 'record_created', record: { n } }, { seq: n, id: cursor })
);
const large = encodeEvent({ type: 'record_updated', record: { text: 'x'.repeat(100_000) } }, {
  seq: 3,
  id: cursor,
});

it('joins small events, and leaves a large one where it is', () => {
  const packet = new Packet([...small, large, ...small]);
  expect(packet.frames).toHaveLength(3);
  expect(packet.frames[1]).toBe(large.frame);
  const all = [...small, large, ...small].map(({ frame }) => frame);
  expect(Buffer.concat(packet.frames)).toEqual(Buffer.concat(all));
});

it('shares the record of a large event between WebSocket messages of all names', () => {
  const packet = new Packet([...small, large]);
  const pieces = packet.variant('one', (event) => eventMessage('one', event));
  const [heads, shared, tail] = pieces;
  expect(heads?.toString('latin1')).toMatch(/"id":"one".*"id":"one".*"id":"one"/s);
  expect(shared?.buffer).toBe(large.frame.buffer);
  expect(tail?.toString()).toBe('}');
  expect(pieces).toHaveLength(3);
});
