// Audit entries in another database than their change.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withRemoteEntry, type WriteRemoteEntry } from '../../../api/audit/remote-entry.ts';
import { auditApp, type AuditEvent } from '../../../api/audit/write.ts';
import type { Pool, Sql } from '../../../storage/connections/pool.ts';
import { type BareApp, bareApp } from '../../harness/bare-app.ts';

let own: BareApp;
let app: Pool;
let workspace: Pool;

beforeAll(async () => {
  own = await bareApp();
  const { workspace: { database }, schema } = await own.definition();
  app = own.deps.databases.app(database, schema);
  workspace = own.deps.databases.workspace(database);
});
afterAll(() => own.end());

const eventOf = (target: string): AuditEvent => ({ actor: 'someone', action: 'a_change', target });
const append = (sql: Sql, event: AuditEvent) => auditApp(sql, own.deps, event);
const keeping = <Result>(change: (write: WriteRemoteEntry) => Promise<Result>) =>
  withRemoteEntry(app, append, change);

async function entries(target: string): Promise<number> {
  const rows = await workspace.run((sql) => sql`select from workspace.audit_log where target = ${target}`);
  return rows.length;
}

describe('an entry that is kept for a change', () => {
  it('is committed as soon as it is written, before the change ends', async () => {
    const seen = await keeping(async (write) => {
      expect(await entries('made')).toBe(0);
      await write(eventOf('made'));
      return await entries('made');
    });
    expect(seen).toBe(1);
  });

  it('is not written when the change fails before it', async () => {
    const broken = keeping(() => Promise.reject(new RangeError('not this time')));
    await expect(broken).rejects.toThrow('not this time');
    expect(app.inFlight).toBe(0);
  });

  it('fails the change where it cannot be written', async () => {
    const lost = (sql: Sql) => sql`select pg_terminate_backend(pg_backend_pid())`.then(() => undefined);
    const done: string[] = [];
    const change = withRemoteEntry(app, lost, async (write) => {
      await write(eventOf('lost'));
      done.push('changed');
    });
    await expect(change).rejects.toMatchObject({ failure: 'unavailable' });
    expect(done).toEqual([]);
  });

  it('keeps the change from beginning when no connection is free', async () => {
    const gone = own.deps.databases.app('nowhere', 'nobody');
    let begun = false;
    const change = withRemoteEntry(gone, append, () => {
      begun = true;
      return Promise.resolve();
    });
    await expect(change).rejects.toThrow();
    expect(begun).toBe(false);
  });
});
