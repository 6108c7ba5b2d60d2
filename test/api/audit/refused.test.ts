// While the audit log of a workspace takes no entry, nothing is done that would have one; afterwards the same request is.
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pool } from '../../../storage/connections/pool.ts';
import { as, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { type Act, askInVain } from '../../harness/shut-log.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let app: OwnApp;
let pool: Pool;

beforeAll(async () => {
  own = await ownWorkspace();
  app = await own.app();
  pool = await openDatabaseOf(own.id);
  const fields = [{ name: 'title', kind: 'text' }];
  expectOk(await app.admin.post(`${app.path}/collections`, { schema: { id: 'notes', fields } }));
  expectOk(
    await app.admin.post(`${app.path}/collections`, { schema: { id: 'people', kind: 'auth', fields: [] } }),
  );
  expectOk(await own.admin.put(`${own.path}/auth/oauth/providers/old`, provider));
  expectOk(await own.admin.put(`${own.path}/policies/team.size`, range));
  expectOk(await app.admin.put(`${app.path}/hooks/env/OLD`, { value: 'a' }));
  expectOk(await app.admin.put(`${app.path}/hooks/old.js`, { source: '// old' }));
  const source = "cronAdd('yearly', '@yearly', () => console.log('ran'));";
  expectOk(await app.admin.put(`${app.path}/hooks/jobs.js`, { source }));
});
afterAll(() => pool.end());

const url = 'https://provider.example/';
const config = { auth_url: url, token_url: url, userinfo_url: url };
const provider = { client_id: 'one', client_secret: 'two', config };
const range = { kind: 'range', min: 1, max: 9 };
const log = () => ({ connection: pool, schema: 'workspace' as const });
const post = (path: string, body?: unknown) => as().post(`${own.path}/auth/${path}`, body);

/** By the action that is written down. */
const byAdmins: Record<string, () => Act> = {
  app_create: () => ({
    ask: () => own.admin.post(`${own.path}/apps`, { id: 'next', name: 'Next' }),
    see: () => own.admin.get(`${own.path}/apps`),
  }),
  app_update: () => ({
    ask: () => own.admin.patch(app.path, { name: 'Renamed' }),
    see: () => own.admin.get(app.path),
  }),
  app_delete: () => ({
    ask: () => own.admin.delete(`${own.path}/apps/next`),
    see: () => own.admin.get(`${own.path}/apps`),
  }),
  collection_create: () => ({
    ask: () => app.admin.post(`${app.path}/collections`, { schema: { id: 'more', fields: [] } }),
    see: () => app.admin.get(`${app.path}/collections`),
  }),
  collection_update: () => ({
    ask: () =>
      app.admin.patch(`${app.path}/collections/notes`, {
        schema: { fields: [{ name: 'title', kind: 'text', max: 9 }] },
      }),
    see: () => app.admin.get(`${app.path}/collections/notes`),
  }),
  rule_set: () => ({
    ask: () => app.admin.put(`${app.path}/collections/notes/access_rules/list`, { template: 'any' }),
    see: () => as().get(`${app.path}/collections/notes/records`),
  }),
  rule_reset: () => ({
    ask: () => app.admin.delete(`${app.path}/collections/notes/access_rules/list`),
    see: () => as().get(`${app.path}/collections/notes/records`),
  }),
  collection_delete: () => ({
    ask: () => app.admin.delete(`${app.path}/collections/more`),
    see: () => app.admin.get(`${app.path}/collections`),
  }),
  hook_put: () => ({
    ask: () => app.admin.put(`${app.path}/hooks/new.js`, { source: '// new' }),
    see: () => app.admin.get(`${app.path}/hooks`),
  }),
  hook_delete: () => ({
    ask: () => app.admin.delete(`${app.path}/hooks/old.js`),
    see: () => app.admin.get(`${app.path}/hooks`),
  }),
  job_run: () => ({
    ask: () => app.admin.post(`${app.path}/hooks/jobs/yearly/run`),
    see: () => app.admin.get(`${app.path}/hooks/logs`),
  }),
  hook_env_set: () => ({
    ask: () => app.admin.put(`${app.path}/hooks/env/NEW`, { value: 'b' }),
    see: () => app.admin.get(`${app.path}/hooks/env`),
  }),
  hook_env_delete: () => ({
    ask: () => app.admin.delete(`${app.path}/hooks/env/OLD`),
    see: () => app.admin.get(`${app.path}/hooks/env`),
  }),
  policy_set: () => ({
    ask: () => own.admin.put(`${own.path}/policies/team.age`, range),
    see: () => own.admin.get(`${own.path}/policies/team.age`),
  }),
  policy_delete: () => ({
    ask: () => own.admin.delete(`${own.path}/policies/team.size`),
    see: () => own.admin.get(`${own.path}/policies/team.size`),
  }),
  provider_set: () => ({
    ask: () => own.admin.put(`${own.path}/auth/oauth/providers/new`, provider),
    see: () => own.admin.get(`${own.path}/auth/oauth/providers`),
  }),
  provider_delete: () => ({
    ask: () => own.admin.delete(`${own.path}/auth/oauth/providers/old`),
    see: () => own.admin.get(`${own.path}/auth/oauth/providers`),
  }),
};

/** The same of what is done by or to a user. */
const ofUsers: Record<string, (user: OwnUser) => Act['ask'] | Promise<Act['ask']>> = {
  user_register: () => () =>
    post('users/register', { email: 'new@example.com', password: 'a long password' }),
  login_success: ({ email, password }) => () => post('users/login', { email, password }),
  logout: ({ refreshToken: refresh_token }) => () => as().post('/_/auth/logout', { refresh_token }),
  user_verify: ({ id }) => () => own.admin.patch(`${own.path}/users/${id}/verify`, { verified: true }),
  user_delete: ({ id }) => () => own.admin.delete(`${own.path}/users/${id}`),
  email_verify: async (user) => {
    expectOk(await user.post(`${own.path}/auth/verify-email/request`));
    const token = await secretFor(user.email);
    return () => post('verify-email/confirm', { token });
  },
  password_reset: async ({ email }) => {
    expectOk(await post('password-reset/request', { email }));
    const token = await secretFor(email);
    return () => post('password-reset/confirm', { token, new_password: 'another long one' });
  },
  email_change: async (user) => {
    const new_email = freshEmail();
    const { password } = user;
    expectOk(await user.post(`${own.path}/auth/email-change/request`, { new_email, password }));
    const token = await secretFor(new_email);
    return () => user.post(`${own.path}/auth/email-change/confirm`, { token });
  },
  mfa_required: async (user) => {
    await enrol(user, `${own.path}/auth`);
    const { email, password } = user;
    return () => post('users/login', { email, password });
  },
  totp_enable: async (user) => {
    const { secret } = expectOk(await user.post(`${own.path}/auth/totp/enroll`));
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    // Of the next step, so that it is good for a minute at least.
    const code = totp.generate({ timestamp: Date.now() + 30_000 });
    return () => user.post(`${own.path}/auth/totp/confirm`, { code });
  },
  totp_disable: async (user) => {
    const { recoveryCodes: [code = ''] } = await enrol(user, `${own.path}/auth`);
    return () => user.post(`${own.path}/auth/totp/disable`, { code });
  },
  totp_remove: async (user) => {
    await enrol(user, `${own.path}/auth`);
    return () => own.admin.delete(`${own.path}/users/${user.id}/totp`);
  },
  session_revoke: async (user) => {
    const { email, password } = user;
    expectOk(await post('users/login', { email, password }));
    const { items } = expectOk(await user.get(`${own.path}/auth/sessions`));
    const { id } = items.find(({ current }: { current: boolean }) => !current);
    return () => user.delete(`${own.path}/auth/sessions/${id}`);
  },
  session_revoke_all: (user) => () => user.delete(`${own.path}/auth/sessions`),
};

async function countOf(action: string): Promise<number> {
  return expectOk(await own.admin.get(`${own.path}/audit?action=${action}`)).total_items;
}

describe('audit.integrity: without its entry', () => {
  it.each(Object.entries(byAdmins))('audit.integrity: nothing is done of %s', async (action, make) => {
    const act = make();
    const count = await countOf(action);
    await askInVain(log(), act);
    expect(await countOf(action)).toBe(count);
    expectOk(await act.ask());
    expect(await countOf(action)).toBe(count + 1);
  });

  it.each(Object.entries(ofUsers))('audit.integrity: nothing is done of %s', async (action, prepare) => {
    const user = await ownUser(own);
    const ask = await prepare(user);
    const count = await countOf(action);
    await askInVain(log(), { ask, see: () => own.admin.get(`${own.path}/users/${user.id}`) });
    expect(await countOf(action)).toBe(count);
    expectOk(await ask());
    expect(await countOf(action)).toBe(count + 1);
  });
});
