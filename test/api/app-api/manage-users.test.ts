// `$app.users.update` and `.delete`: where the workspace allows it, and never beyond the workspace.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, ownWorkspace } from '../../harness/api.ts';
import { owner, type Scenario, scenario } from '../../harness/scenario.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

const hooks = `
routerAdd('POST', '/run', async (e) => {
  const { code } = await e.request.json();
  const run = new Function('$app', 'return (async () => {' + code + '})()');
  try { return { value: (await run($app)) ?? null }; }
  catch ({ code, message }) { return { error: { code, message } }; }
});
onRecordBeforeDelete('notes', (e) => { if (e.record.fields.kept) throw new Error('is kept, said to ' + e.auth.role); });
`;

let shop: Scenario;
beforeAll(async () => {
  const note = { ...owner, cascade_delete: true };
  shop = await scenario({
    collections: { notes: [note, { name: 'kept', kind: 'bool' }] },
    hooks: { 'hooks.ts': hooks },
  });
});

async function run(code: string): Promise<{ value?: unknown; error?: { code: string; message: string } }> {
  return (await as().post(`${shop.app.path}/custom/run`, { code })).body;
}

const policy = (value: boolean) => ({ kind: 'toggle', state: 'locked', value });
const atWorkspace = () => `${shop.workspace.path}/policies/hooks.manage_users`;

describe('$app.users.update and .delete', () => {
  it('are refused unless the workspace allows them, whatever the app says', async () => {
    const { id } = await shop.user();
    expectOk(await shop.admin.put(`${shop.app.path}/policies/hooks.manage_users`, policy(true)));
    for (
      const call of [`update('${id}', { verified: true })`, `delete('${id}')`, `delete('${randomUUID()}')`]
    ) {
      expect((await run(`return await $app.users.${call};`)).error?.code, call).toBe('forbidden');
    }
    expect((await run(`return (await $app.users.findOne('${id}')).verified;`)).value).toBe(false);
    expectOk(await shop.admin.delete(`${shop.app.path}/policies/hooks.manage_users`));
    expectOk(await shop.workspace.admin.put(atWorkspace(), policy(true)));
  });

  it('change an address, which is not verified, and a password, which ends all sessions', async () => {
    const user = await ownUser(shop.workspace);
    const email = freshEmail();
    const moved = await run(
      `return await $app.users.update('${user.id}', { email: '${email.toUpperCase()}' });`,
    );
    expect(moved.value).toMatchObject({ id: user.id, email, verified: false });
    const me = `${shop.workspace.path}/auth/me`;
    expect(expectOk(await user.get(me)).email).toBe(email);
    const password = 'another long password';
    await run(`await $app.users.update('${user.id}', { password: '${password}', verified: true });`);
    expect((await user.get(me)).status).toBe(401);
    const login = await as().post(`${shop.workspace.path}/auth/users/login`, { email, password });
    expect(expectOk(login).user).toMatchObject({ id: user.id, verified: true });
    const { items } = expectOk(
      await shop.workspace.admin.get(`${shop.workspace.path}/audit?action=user_update`),
    );
    const changes = items.map(({ details: { changed } }: { details: { changed: string[] } }) => changed);
    expect(changes.sort()).toEqual([['email'], ['password', 'verified']]);
    expect(JSON.stringify(items)).not.toContain(password);
  });

  it('refuse what is wrong, and write nothing then', async () => {
    const [user, other] = [await shop.user(), await shop.user()];
    const stranger = await (await scenario({ workspace: await ownWorkspace() })).user();
    const wrong = {
      [`update('${user.id}', { email: '${other.email}', verified: true })`]: 'conflict',
      [`update('${user.id}', { email: 'no address', verified: true })`]: 'validation',
      [`update('${user.id}', { password: 'short', verified: true })`]: 'validation',
      [`update('${stranger.id}', { verified: true })`]: 'not_found',
      [`update('x', { verified: true })`]: 'not_found',
      [`delete('${stranger.id}')`]: 'not_found',
      [`delete('x')`]: 'not_found',
    };
    for (const [call, code] of Object.entries(wrong)) {
      expect((await run(`return await $app.users.${call};`)).error?.code, call).toBe(code);
    }
    expect((await run(`await $app.users.update('${user.id}', { role: 'admin' });`)).error?.message).toContain(
      'role',
    );
    expect((await run(`return await $app.users.findOne('${user.id}');`)).value)
      .toMatchObject({ email: user.email, verified: false });
  });

  it('delete a user with its records, after their hooks', async () => {
    const user = await shop.user();
    const note = await shop.make(shop.records('notes'), { owner: user.id, kept: true });
    const refused = await run(`return await $app.users.delete('${user.id}');`);
    expect(refused.error).toEqual({ code: 'hook_veto', message: 'is kept, said to hook' });
    expectOk(await shop.admin.patch(`${shop.records('notes')}/${note}`, { kept: false }));
    expect(await run(`return await $app.users.delete('${user.id}');`)).toEqual({ value: null });
    const { value } = await run(
      `return [await $app.users.findOne('${user.id}'), await $app.records.findOne('notes', '${note}')];`,
    );
    expect(value).toEqual([null, null]);
    const { items } = expectOk(
      await shop.workspace.admin.get(`${shop.workspace.path}/audit?action=user_delete`),
    );
    expect(items[0]).toMatchObject({ actor: 'system', target: user.email, details: { by: 'hook' } });
  });
});
