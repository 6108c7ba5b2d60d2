// Ids of one tenant in the hands of another: never found, never changed, never pointed to.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';

/** A tenant with a collection and a record of its own. */
interface Tenant {
  workspace: OwnWorkspace;
  app: OwnApp;
  collection: string;
  record: { id: string; fields: Record<string, unknown> };
}

let mine: Tenant;
/** Another app of the same workspace, and an app of the same id in another workspace. */
let neighbour: Tenant;
let stranger: Tenant;

beforeAll(async () => {
  const workspace = await ownWorkspace();
  const foreign = await ownWorkspace();
  mine = await settle(workspace, 'shop');
  neighbour = await settle(workspace, 'other');
  stranger = await settle(foreign, 'shop');
});

async function settle(workspace: OwnWorkspace, id: string): Promise<Tenant> {
  const app = await workspace.app(id);
  const collection = `${app.path}/collections/secrets`;
  const fields = [
    { name: 'text', kind: 'text' },
    { name: 'twin', kind: 'relation', target: 'secrets' },
  ];
  expectOk(await app.admin.post(`${app.path}/collections`, { schema: { id: 'secrets', fields } }));
  const record = expectOk(
    await app.admin.post(`${collection}/records`, { text: `of ${workspace.id}/${id}` }),
  );
  return { workspace, app, collection, record };
}

/** Everything that a caller may try with an id under a collection; the statuses it got. */
async function tryAll(caller: Caller, collection: string, id: string): Promise<number[]> {
  const responses = [
    await caller.get(`${collection}/records/${id}`),
    await caller.patch(`${collection}/records/${id}`, { text: 'stolen' }),
    await caller.delete(`${collection}/records/${id}`),
  ];
  return responses.map(({ status }) => status);
}

async function expectUntouched({ app, collection, record }: Tenant): Promise<void> {
  expect((await app.admin.get(`${collection}/records/${record.id}`)).body).toEqual(record);
}

describe('tenant.id-swap', () => {
  it('tenant.id-swap: an id of another app or workspace is 404 under one’s own collection', async () => {
    for (const other of [neighbour, stranger]) {
      expect(await tryAll(mine.app.admin, mine.collection, other.record.id)).toEqual([404, 404, 404]);
      await expectUntouched(other);
    }
  });

  it('tenant.id-swap: the paths of another app or workspace are 403, whether or not anything is there', async () => {
    for (const other of [neighbour, stranger]) {
      expect(await tryAll(mine.app.admin, other.collection, other.record.id)).toEqual([403, 403, 403]);
      expect(await tryAll(mine.app.admin, other.collection, randomUUID())).toEqual([403, 403, 403]);
      expect((await mine.app.admin.get(`${other.collection}/records`)).status).toBe(403);
      expect((await mine.app.admin.post(`${other.collection}/records`, { text: 'planted' })).status).toBe(
        403,
      );
      expect((await mine.app.admin.patch(other.collection, { schema: { fields: [] } })).status).toBe(403);
      expect((await mine.app.admin.delete(other.collection)).status).toBe(403);
      await expectUntouched(other);
    }
    const nowhere = `/api/workspaces/${randomUUID()}/apps/shop/collections/secrets/records`;
    expect((await mine.app.admin.get(nowhere)).status).toBe(403);
  });

  it('tenant.id-swap: an id of another tenant cannot be pointed to', async () => {
    for (const other of [neighbour, stranger]) {
      const response = await mine.app.admin.post(`${mine.collection}/records`, { twin: other.record.id });
      expect(response.status).toBe(400);
      expect(response.body.message).toBe('twin: there is no record with this id');
    }
  });

  it('tenant.id-swap: an id of another tenant is not there in a batch, nor under a filter', async () => {
    const { app: { admin, path }, collection, record } = mine;
    for (const other of [neighbour, stranger]) {
      const { id } = other.record;
      for (
        const write of [
          { method: 'PATCH', collection: 'secrets', id, body: { text: 'stolen' } },
          { method: 'DELETE', collection: 'secrets', id },
          { method: 'PATCH', collection: 'secrets', id: record.id, body: { twin: id } },
          { method: 'POST', collection: 'secrets', body: { twin: id } },
        ]
      ) {
        const response = await admin.post(`${path}/batch`, { requests: [write] });
        expect(response.status).toBe('body' in write && 'twin' in write.body ? 400 : 404);
      }
      for (const filter of [`id = '${id}'`, `twin = '${id}'`, `id in ['${id}']`, `twin.id = '${id}'`]) {
        const list = await admin.get(`${collection}/records?filter=${encodeURIComponent(filter)}`);
        expect(expectOk(list).items).toEqual([]);
      }
      await expectUntouched(other);
    }
  });

  it('tenant.id-swap: a hook finds no record of another tenant, and changes none', async () => {
    const source = `
      routerAdd('GET', '/take', async ({ query: { id } }) => {
        const told = (work) => work.then((found) => found ?? null, ({ message }) => message);
        const records = $app.records;
        return [
          await told(records.findOne('secrets', id)),
          await told(records.update('secrets', id, { text: 'stolen' })),
          await told(records.delete('secrets', id)),
          await told(records.create('secrets', { twin: id })),
          (await records.list('secrets', { filter: \`id = '\${id}'\` })).items,
        ];
      });`;
    expectOk(await mine.app.admin.put(`${mine.app.path}/hooks/take.js`, { source }));
    const take = async (id: string) =>
      expectOk(await mine.app.admin.get(`${mine.app.path}/custom/take?id=${id}`));
    for (const other of [neighbour, stranger]) {
      const { id } = other.record;
      const missing = `record "${id}" does not exist`;
      expect(await take(id)).toEqual([
        null,
        missing,
        missing,
        'twin: there is no record with this id',
        [],
      ]);
      await expectUntouched(other);
    }
  });

  it('tenant.id-swap: the same id may be taken in each, and each keeps its own record', async () => {
    const id = randomUUID();
    for (const { app, collection } of [mine, neighbour, stranger]) {
      expectOk(await app.admin.post(`${collection}/records`, { id, text: collection }));
    }
    expectOk(await mine.app.admin.delete(`${mine.collection}/records/${id}`));
    for (const { app, collection } of [neighbour, stranger]) {
      expect((await app.admin.get(`${collection}/records/${id}`)).body.fields.text).toBe(collection);
    }
  });

  it('tenant.id-swap: a collection with the tables of another in its name is one’s own or refused', async () => {
    for (
      const id of [`${neighbour.app.id}.secrets`, '../other/secrets', 'workspace.users', 'control.admins']
    ) {
      const response = await mine.app.admin.post(`${mine.app.path}/collections`, {
        schema: { id, fields: [] },
      });
      expect(response.status).toBe(400);
    }
    await expectUntouched(neighbour);
  });
});
