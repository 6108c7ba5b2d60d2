// The outbox through HTTP.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { secretIn } from '../../harness/mailbox.ts';

let own: OwnWorkspace;
beforeAll(async () => {
  own = await ownWorkspace();
});

async function askForCode(workspace: OwnWorkspace, email: string): Promise<void> {
  expectOk(await as().post(`${workspace.path}/auth/otp/request`, { email }));
}

async function mails(workspace: OwnWorkspace, query = '') {
  return expectOk(await workspace.master.get(`${workspace.path}/outbox${query}`));
}

describe('the outbox of a workspace', () => {
  it('has its mails, the newest first, with codes that work', async () => {
    const [first, second] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
    await askForCode(own, first);
    await expect.poll(async () => (await mails(own)).total_items).toBe(1);
    await askForCode(own, second);
    await expect.poll(async () => (await mails(own)).total_items).toBe(2);
    const { items } = await mails(own);
    expect(items.map(({ to }: { to: string }) => to)).toEqual([second, first]);
    expect(items[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      to: second,
      subject: expect.any(String),
      text: expect.any(String),
      html: expect.any(String),
      created_at: expect.any(String),
    });
    expect((await mails(own, '?per_page=1&page=2')).items).toEqual([items[1]]);
    const found = await mails(own, `?to=${first.toUpperCase()}`);
    expect(found).toMatchObject({ items: [items[1]], total_items: 1 });
    const code = secretIn(found.items[0].text);
    expectOk(await as().post(`${own.path}/auth/otp/login`, { email: first, code }));
  });

  it('has no mail of another workspace, nor of an earlier one of its id', async () => {
    const other = await ownWorkspace();
    const email = `${randomUUID()}@example.com`;
    await askForCode(other, email);
    await expect.poll(async () => (await mails(other)).total_items).toBe(1);
    expect((await mails(own, `?to=${email}`)).items).toEqual([]);
    expectOk(await other.master.delete(other.path));
    expectOk(await other.master.post('/api/workspaces', { id: other.id, name: 'Again' }));
    expect((await mails(other)).items).toEqual([]);
  });

  it('is for the master alone: codes are a way into accounts', async () => {
    const app = await own.app();
    for (const admin of [own.admin, app.admin]) {
      expect((await admin.get(`${own.path}/outbox`)).status).toBe(403);
    }
    expect((await as().get(`${own.path}/outbox`)).status).toBe(401);
    const key = async (scopes: string[]) =>
      as(expectOk(await own.master.post('/api/keys', { name: 'ci', scopes })).secret);
    expect((await (await key(['workspaces:write'])).get(`${own.path}/outbox`)).status).toBe(403);
    expect((await (await key([`outbox:read@${own.id}`])).get(`${own.path}/outbox`)).status).toBe(200);
    expect((await (await key(['outbox:read@other'])).get(`${own.path}/outbox`)).status).toBe(403);
  });
});
