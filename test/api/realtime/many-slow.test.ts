// Many readers that do not read, for each of which something else waits.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { openEvents } from './event-client.ts';
import { type Rig, startRig } from './rig.ts';

const backlogBytes = 4_000_000;
let rig: Rig;
afterEach(() => rig.close());

it('are cut off when too much waits for all of them together', async () => {
  // What waits for one alone is no reason here.
  const sink = { waitingBytes: 1_000_000_000, stallMilliseconds: 10_000 };
  rig = await startRig({ bounds: { backlogBytes, sink } });
  rig.gate.rule = ({ filter = '' }) => rig.gate.view(filter, ({ record }) => record.n !== Number(filter));
  const clients = await Promise.all(
    Array.from({ length: 10 }, (_, n) => openEvents(rig.port, { filter: String(n) })),
  );
  for (const { socket } of clients) socket.pause();
  const text = 'x'.repeat(5_000);
  let most = 0;
  while (rig.connections.every(({ destroyed }) => !destroyed)) {
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
