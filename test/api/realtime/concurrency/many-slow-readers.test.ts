// Many readers that do not read, each with different bytes waiting.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { type EventClient, openEvents } from '../event-client.ts';
import { type Rig, startRig } from '../rig.ts';

const backlogBytes = 4_000_000;
let rig: Rig;
afterEach(() => rig.close());

// What waits for one alone is no reason here.
const sink = { waitingBytes: 1_000_000_000, stallMs: 10_000 };

/** Ten who do not read, each of whom is told of records but those with one `n`. */
async function readers(): Promise<EventClient[]> {
  rig.gate.rule = ({ filter = '' }) => rig.gate.view(filter, ({ record }) => record.n !== Number(filter));
  const clients: EventClient[] = [];
  for (let n = 0; n < 10; n++) {
    const client = await openEvents(rig.port, { filter: String(n) });
    client.socket.removeAllListeners('data').pause();
    clients.push(client);
  }
  return clients;
}

it('are cut off when too much waits for all of them together', async () => {
  rig = await startRig({ bounds: { backlogBytes, sink } });
  await readers();
  const text = 'x'.repeat(5_000);
  let most = 0;
  while (rig.connections.every(({ destroyed }) => !destroyed) && most <= backlogBytes) {
    // One batch, of which each of them misses one.
    for (let n = 0; n < 10; n++) rig.write({ n, text });
    await nextTurn();
    const waiting = rig.connections.map((end) => end.destroyed ? 0 : end.writableLength);
    most = Math.max(most, waiting.reduce((sum, bytes) => sum + bytes));
  }
  expect(most).toBeGreaterThan(backlogBytes / 4);
  expect(most).toBeLessThanOrEqual(backlogBytes);
  expect(rig.connections.some(({ destroyed }) => !destroyed)).toBe(true);
});

it('wait for the same bytes of a large event, whatever else each is told', async () => {
  rig = await startRig({ bounds: { backlogBytes: 50_000_000, sink } });
  const clients = await readers();
  const text = 'x'.repeat(8_000_000);
  for (let written = 1; written <= 3; written++) {
    for (let n = 0; n < 10; n++) rig.write({ n });
    rig.write({ n: 10, text });
    const isSent = (end: Socket) => end.destroyed || end.bytesWritten > written * text.length;
    while (!rig.connections.every(isSent)) await nextTurn();
  }
  expect(rig.connections.map(({ destroyed }) => destroyed)).not.toContain(true);
  for (const [at, { socket }] of clients.entries()) {
    const sent = rig.connections[at]?.bytesWritten ?? 0;
    socket.resume();
    while (socket.bytesRead < sent) await once(socket, 'data');
  }
});
