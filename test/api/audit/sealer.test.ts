// The server seals its audit logs behind the requests: all scopes, soon, in several processes, and after a crash.
import { expect, inject, it, vi } from 'vitest';
import { controlChain, workspaceChain } from '../../../storage/audit/chain.ts';
import { type ChainVerdict, verifyChain } from '../../../storage/audit/verify.ts';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool } from '../../../storage/connections/pool.ts';
import { Secrets } from '../../../storage/secrets.ts';
import { as, expectOk, ownWorkspace } from '../../harness/api.ts';
import { masterKeyOf, provisionerEndpoint } from '../../harness/database.ts';

/** What there is to say of a log of the shared server. */
async function verify(log: 'system' | { workspace: string }): Promise<ChainVerdict & { rows: number }> {
  const options = { cap: 1, permits: unlimitedPermits, now: Date.now };
  const control = new Pool(provisionerEndpoint(), options);
  const key = new Secrets(masterKeyOf(inject('server').dataDir));
  if (log === 'system') {
    const verdict = await verifyChain(control, controlChain, { key });
    const [row] = await control.run((sql) =>
      sql<{ rows: number }[]>`select count(*)::int as rows from control.audit_log`
    );
    await control.end();
    return { ...verdict, rows: row?.rows ?? 0 };
  }
  const [found] = await control.run((sql) =>
    sql<{ database: string }[]>`select database from control.workspaces where id = ${log.workspace}`
  );
  await control.end();
  const pool = new Pool(provisionerEndpoint(found?.database), options);
  const verdict = await verifyChain(pool, workspaceChain(found?.database ?? ''), { key });
  const [row] = await pool.run((sql) =>
    sql<{ rows: number }[]>`select count(*)::int as rows from workspace.audit_log`
  );
  await pool.end();
  return { ...verdict, rows: row?.rows ?? 0 };
}

it('audit.integrity: every act and every login is sealed within a second, in all scopes', async () => {
  const workspace = await ownWorkspace();
  const app = await workspace.app('shop');
  const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
  const email = 'ada@example.com';
  expectOk(
    await as().post(`${workspace.path}/auth/users/register`, { email, password: 'a password of the test' }),
  );
  const wrong = await as().post(`${workspace.path}/auth/users/login`, {
    email,
    password: 'a wrong password here',
  });
  expect(wrong.status).toBe(401);
  expectOk(
    await workspace.admin.put(`${workspace.path}/policies/password.length`, {
      kind: 'range',
      min: 9,
      max: 200,
    }),
  );
  const soon = { timeout: 1_000, interval: 50 };
  const inWorkspace = await vi.waitFor(async () => {
    const verdict = await verify({ workspace: workspace.id });
    // Rows are counted after the seals: a row that is appended in between is sealed in the next round.
    expect(verdict).toMatchObject({ waiting: 0, faulty: 0, sound: verdict.rows });
    return verdict;
  }, soon);
  const { body } = await workspace.admin.get(`${workspace.path}/audit?per_page=200`);
  expect(body.total_items).toBe(inWorkspace.rows);
  const actions = new Set(body.items.map(({ action }: { action: string }) => action));
  for (const action of ['app_create', 'collection_create', 'user_register', 'login_failed', 'policy_set']) {
    expect([action, actions.has(action)]).toEqual([action, true]);
  }
});

it('audit.integrity: an act that is rolled back leaves neither row nor seal, and nothing waits for it', async () => {
  const workspace = await ownWorkspace();
  await workspace.app('shop');
  const again = await workspace.admin.post(`${workspace.path}/apps`, { id: 'shop', name: 'Again' });
  expect(again.status).toBe(409);
  await vi.waitFor(async () => {
    const verdict = await verify({ workspace: workspace.id });
    expect(verdict).toMatchObject({ waiting: 0, faulty: 0, sound: verdict.rows });
  }, { timeout: 1_000, interval: 50 });
});

it('audit.integrity: the log of the system has no fault', async () => {
  expect(await verify('system')).toMatchObject({ faulty: 0 });
});
