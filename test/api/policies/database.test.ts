// The policies about what statements of a workspace may take of the database server.
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { DatabaseSettings } from '../../../api/policies/database-limits.ts';
import { bareApp } from '../../harness/bare-app.ts';
import { expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { type Scenario, scenario, title } from '../../harness/scenario.ts';

const defaults = { work_mem: '4MB', temp_file_limit: '512MB', statement_timeout: '5s' };

describe('the settings of a database', () => {
  let own: Scenario;
  let records: string;
  beforeAll(async () => {
    own = await scenario();
    records = await own.define('notes', [title]);
  });

  const policy = (name: string) => `${own.workspace.path}/policies/database.${name}`;
  const range = (min: number, max: number) => ({ kind: 'range', min, max });

  /** What a session in the workspace's database would begin with. */
  const settings = async () => {
    const [row] = await own.inDatabase((sql) =>
      sql<{ settings: string[] }[]>`select setconfig as settings from pg_db_role_setting
        join pg_database on pg_database.oid = setdatabase where setrole = 0 and datname = current_database()`
    );
    return Object.fromEntries((row?.settings ?? []).map((setting) => setting.split('=')));
  };
  const quotas = async () => expectOk(await own.workspace.admin.get(`${own.workspace.path}/usage`)).quotas;

  it('are the defaults, which the usage shows', async () => {
    expect(await settings()).toMatchObject({ ...defaults, statement_timeout: '5000ms' });
    expect(await quotas()).toMatchObject({
      database_work_mem_mb: 4,
      database_temp_file_mb: 512,
      database_statement_timeout_ms: 5_000,
    });
  });

  it('follow the policies of the workspace, while its apps work on', async () => {
    const { admin } = own.workspace;
    expectOk(await admin.put(policy('work_mem_mb'), range(1, 2)));
    expectOk(await admin.put(policy('temp_file_mb'), range(1, 16)));
    expectOk(await admin.put(policy('statement_timeout_ms'), range(100, 1_000)));
    const tight = { work_mem: '2MB', temp_file_limit: '16MB', statement_timeout: '1000ms' };
    await vi.waitFor(async () => expect(await settings()).toMatchObject(tight));
    expect(await quotas()).toMatchObject({ database_temp_file_mb: 16, database_statement_timeout_ms: 1_000 });
    await own.make(records, { title: 'written' });
    expectOk(await admin.delete(policy('temp_file_mb')));
    await vi.waitFor(async () =>
      expect(await settings()).toMatchObject({ ...tight, temp_file_limit: '512MB' })
    );
  });

  it('cannot be wider than the level above allows', async () => {
    const wide = await own.workspace.admin.put(policy('work_mem_mb'), range(1, 8));
    expectError(wide, 400, 'policy_violation');
  });
});

it('connections that are open get new settings once their work has ended', async () => {
  const own = await bareApp();
  try {
    const { workspace, schema } = await own.definition();
    let max = 4;
    const settings = new DatabaseSettings({
      ...own.deps,
      observe: () => undefined,
      policies: {
        range: (name) => {
          const value = name === 'database.work_mem_mb'
            ? max
            : name === 'database.temp_file_mb'
            ? 512
            : 5_000;
          return Promise.resolve({ min: 1, max: value, value });
        },
        toggle: () => Promise.reject(new Error('no toggle')),
        set: () => Promise.reject(new Error('no set')),
      },
    });
    const pool = own.deps.databases.app(workspace.database, schema);
    const memory = () =>
      pool.run(async (sql) => {
        const [row] = await sql<{ work_mem: string }[]>`show work_mem`;
        return row?.work_mem;
      });
    expect(await memory()).toBe('4MB');
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const busy = pool.transaction(async (sql) => {
      begun.resolve();
      await promise;
      return (await sql`show work_mem`)[0]?.['work_mem'];
    });
    await begun.promise;
    max = 2;
    await settings.apply(workspace);
    expect(await memory()).toBe('2MB');
    resolve();
    expect(await busy).toBe('4MB');
    max = 4;
    await settings.apply(workspace);
    expect(await memory()).toBe('4MB');
  } finally {
    await own.end();
  }
});

it('no workspace is visited for a policy of the system that leaves its limits as they were', async () => {
  const own = await bareApp();
  try {
    const { workspace } = await own.definition();
    let max = 4;
    const range = (name: string) => {
      const value = { 'database.work_mem_mb': max, 'database.temp_file_mb': 512 }[name] ?? 5_000;
      return Promise.resolve({ min: 1, max: value, value });
    };
    const unasked = () => Promise.reject(new Error('no other policy'));
    const settings = new DatabaseSettings({
      ...own.deps,
      observe: () => undefined,
      policies: { range, toggle: unasked, set: unasked },
    });
    const apply = vi.spyOn(settings, 'apply').mockResolvedValue();
    await settings.onChange({ kind: 'policies' });
    expect(apply).not.toHaveBeenCalled();
    await settings.onChange({ kind: 'policies', workspace: workspace.id });
    expect(apply.mock.calls).toEqual([[{ id: workspace.id, database: workspace.database }]]);
    max = 2;
    await settings.onChange({ kind: 'policies' });
    expect(apply.mock.calls.map(([{ id }]) => id)).toContain(workspace.id);
    expect(apply.mock.calls.length).toBeGreaterThan(1);
  } finally {
    await own.end();
  }
});
