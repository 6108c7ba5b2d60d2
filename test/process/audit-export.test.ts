// An export of many pieces, to a client that takes its time: whole, in order, and not held in memory.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import type { Caller } from '../harness/api.ts';
import { endpointOf } from '../harness/database.ts';
import { apiPidOf } from '../harness/kills.ts';
import { residentMemory } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { setUp } from '../harness/set-up.ts';

const rows = 60_000;
/** In every entry, so that all of them are more than a server may hold. */
const filler = 'x'.repeat(8_000);
let server: TestServer;
let master: Caller;

beforeAll(async () => {
  server = await startServer();
  master = await setUp(server.url);
  const options = { cap: 1, permits: unlimitedPermits, now: Date.now };
  const control = new Pool(endpointOf(server.dataDir, 'bulkhead'), options);
  await control.run((sql) =>
    sql`
      insert into control.audit_log (id, ts, actor, action, target, details)
      select uuidv7(), now(), 'somebody', 'many_set', n::text, jsonb_build_object('text', ${filler}::text)
      from generate_series(1, ${rows}::int) as n`
  );
  await control.end();
});
afterAll(() => server.stop());

it('audit.export: gives a slow client every entry in order, and does not hold them all meanwhile', {
  timeout: 120_000,
}, async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  const api = await apiPidOf(server);
  const before = await residentMemory(api);
  const id = randomUUID();
  socket.write(
    `GET /api/system/audit?format=jsonl&actor=somebody HTTP/1.0\r\nHost: ${hostname}\r\nX-Request-Id: ${id}\r\n` +
      `Authorization: Bearer ${master.token}\r\n\r\n`,
  );
  const targets: string[] = [];
  let rest = '';
  let peak = 0;
  let sent = 0;
  for await (const chunk of socket.setEncoding('utf8')) {
    rest += chunk;
    sent += chunk.length;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('{')) targets.push(JSON.parse(line).target);
    // Every read is paid for with a look at the server: slower than it could send.
    peak = Math.max(peak, await residentMemory(api));
  }
  expect(rest).toBe('');
  expect(targets).toEqual(Array.from({ length: rows }, (_, index) => String(rows - index)));
  const mebibytes = sent / 1_048_576;
  expect(mebibytes).toBeGreaterThan(400);
  // The garbage of a piece or two is more than the pieces.
  expect(peak - before).toBeLessThan(mebibytes * 0.75);
});
