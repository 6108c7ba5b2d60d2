// The same for the log of the system scope, on a server of its own.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool } from '../../../storage/connections/pool.ts';
import { as, type Caller, expectOk } from '../../harness/api.ts';
import { endpointOf } from '../../harness/database.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { type Act, askInVain } from '../../harness/shut-log.ts';

const password = 'the password of the master';
const workspace = '/api/workspaces/acme';
const field = '/api/system/policies/team.size';
let server: TestServer;
let pool: Pool;
let root: Caller;
let adminId: string;

beforeAll(async () => {
  server = await startServer();
  pool = new Pool(endpointOf(server.dataDir, 'bulkhead'), {
    cap: 1,
    permits: unlimitedPermits,
    now: Date.now,
  });
  expectOk(await nobody().post('/_/setup', { password }));
  root = as(expectOk(await logIn()).access_token, server.url);
  expectOk(await root.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
  const { id } = expectOk(
    await root.post(`${workspace}/admins`, { email: 'ann@example.com', password, name: 'Ann', app_ids: [] }),
  );
  adminId = id;
});
afterAll(async () => {
  await pool.end();
  await server.stop();
});

const nobody = () => as(undefined, server.url);
const logIn = () => nobody().post('/_/auth/admin/login', { username: 'admin', password });
const admins = () => root.get(`${workspace}/admins`);
const workspaces = () => root.get('/api/workspaces');
const policy = () => root.get(field);

/** By the action that is written down, in an order in which they can be done. */
const acts: Record<string, () => Act> = {
  login_success: () => ({ ask: logIn, see: admins }),
  admin_create: () => ({
    ask: () =>
      root.post(`${workspace}/admins`, { email: 'bob@example.com', password, name: 'Bob', app_ids: [] }),
    see: admins,
  }),
  admin_update: () => ({
    ask: () => root.patch(`${workspace}/admins/${adminId}`, { name: 'Anna', password: 'another password' }),
    see: admins,
  }),
  admin_delete: () => ({ ask: () => root.delete(`${workspace}/admins/${adminId}`), see: admins }),
  policy_set: () => ({ ask: () => root.put(field, { kind: 'range', min: 1, max: 9 }), see: policy }),
  policy_delete: () => ({ ask: () => root.delete(field), see: policy }),
  workspace_create: () => ({
    ask: () => root.post('/api/workspaces', { id: 'next', name: 'Next' }),
    see: workspaces,
  }),
  workspace_update: () => ({ ask: () => root.patch(workspace, { name: 'Renamed' }), see: workspaces }),
  workspace_delete: () => ({ ask: () => root.delete(workspace), see: workspaces }),
  password_change: () => ({
    ask: () =>
      root.post('/_/auth/admin/password', { current_password: password, new_password: 'another password' }),
    see: stillLogsIn,
  }),
};

/** Whether the password is what it was; not what it answers, which is new each time. */
async function stillLogsIn() {
  const { status } = await logIn();
  return { ...await nobody().get('/healthz'), status };
}

async function countOf(action: string): Promise<number> {
  return expectOk(await root.get(`/api/system/audit?action=${action}`)).total_items;
}

it.each(Object.entries(acts))(
  'audit.integrity: nothing is done of %s without its entry',
  async (action, make) => {
    const act = make();
    const count = await countOf(action);
    await askInVain({ connection: pool, schema: 'control' }, act);
    expect(await countOf(action)).toBe(count);
    expectOk(await act.ask());
    expect(await countOf(action)).toBe(count + 1);
  },
);
