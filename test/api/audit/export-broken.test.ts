// An export of the audit log that cannot go on.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { exportAudit } from '../../../api/audit/export.ts';
import type { LogEvent } from '../../../api/logging/events.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import type { Connection } from '../../../storage/connections/pool.ts';
import { systemLog } from '../../harness/audit-log.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

/** More than are read at once. */
const entries = 150;

let installation: OwnInstallation;
let storage: Storage;

beforeAll(async () => {
  installation = await ownInstallation();
  storage = await installation.open();
  const log = systemLog(storage);
  for (let entry = 0; entry < entries; entry++) await log.append('act');
});
afterAll(() => installation.remove());

/** What an export that reads over this connection is answered, and what is said of it. */
async function exported(connection: Connection): Promise<{ response: Response; facts: LogEvent[] }> {
  const facts: LogEvent[] = [];
  const question = { scope: { schema: 'control' }, filter: {} } as const;
  const line = { headers: [], address: '', reserveFile: () => undefined, body: () => expect.unreachable() };
  const server = createServer((_request, response) =>
    void exportAudit({ observe: (fact) => facts.push(fact) }, connection, question).write({
      ...line,
      response,
    })
  );
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { response: await fetch(`http://127.0.0.1:${port}/`), facts };
}

it('audit.export: is cut off when its rest cannot be read, and does not look whole', async () => {
  const { control } = storage.databases;
  let pieces = 0;
  const { response, facts } = await exported({
    run: (work) =>
      control.run(async (sql) => {
        if (++pieces > 1) await sql`select pg_terminate_backend(pg_backend_pid())`;
        return await work(sql);
      }),
    transaction: (work) => control.transaction(work),
  });
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow('terminated');
  expect(facts).toMatchObject([{ type: 'background_failed', task: 'export an audit log' }]);
});

it('audit.export: ends when all of it is sent', async () => {
  const { response, facts } = await exported(storage.databases.control);
  expect((await response.text()).split('\n').length).toBeGreaterThan(entries);
  expect(facts).toEqual([]);
});
