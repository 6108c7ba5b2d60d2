// Relations between records: they point to what is there, and deleting what they point to does as they say.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk, ownWorkspace } from '../../harness/api.ts';

let admin: Caller;
let collections: string;

interface Made {
  id: string;
  fields: Record<string, unknown>;
}

beforeAll(async () => {
  const workspace = await ownWorkspace();
  const app = await workspace.app();
  admin = app.admin;
  collections = `${app.path}/collections`;
  await define('authors', [{ name: 'name', kind: 'text' }]);
  const author = { name: 'author', kind: 'relation', target: 'authors' };
  await define('loose', [author]);
  await define('strict', [{ ...author, required: true }]);
  await define('bound', [{ ...author, cascade_delete: true, required: true }]);
  await define('tree', [{ name: 'parent', kind: 'relation', target: 'tree', cascade_delete: true }]);
  await define('owned', [{ name: 'owner', kind: 'relation', target: 'users' }]);
});

async function define(id: string, fields: unknown[]): Promise<void> {
  expectOk(await admin.post(collections, { schema: { id, fields } }));
}

async function create(collection: string, values: Record<string, unknown>): Promise<Made> {
  return expectOk(await admin.post(`${collections}/${collection}/records`, values));
}

async function statusOf(collection: string, { id }: Made): Promise<number> {
  return (await admin.get(`${collections}/${collection}/records/${id}`)).status;
}

describe('a relation', () => {
  it.each(['loose', 'strict', 'bound'])(
    'of %s refuses an id that is nobody’s, also on a change',
    async (collection) => {
      const unknown = { code: 'validation', message: 'author: there is no record with this id' };
      const refused = await admin.post(`${collections}/${collection}/records`, { author: randomUUID() });
      expect(refused).toMatchObject({ status: 400, body: unknown });
      const author = await create('authors', {});
      const record = await create(collection, { author: author.id });
      const changed = await admin.patch(`${collections}/${collection}/records/${record.id}`, {
        author: randomUUID(),
      });
      expect(changed).toMatchObject({ status: 400, body: unknown });
    },
  );

  it('refuses the id of a record of another collection', async () => {
    const other = await create('tree', {});
    expect((await admin.post(`${collections}/loose/records`, { author: other.id })).status).toBe(400);
  });

  it('is emptied when its target is deleted', async () => {
    const author = await create('authors', {});
    const record = await create('loose', { author: author.id });
    expectOk(await admin.delete(`${collections}/authors/records/${author.id}`));
    const left = expectOk(await admin.get(`${collections}/loose/records/${record.id}`));
    expect(left.fields).toEqual({ author: null });
  });

  it('keeps its target from being deleted when it is required', async () => {
    const author = await create('authors', {});
    const record = await create('strict', { author: author.id });
    const refused = await admin.delete(`${collections}/authors/records/${author.id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.code).toBe('conflict');
    expect(await statusOf('authors', author)).toBe(200);
    expectOk(await admin.delete(`${collections}/strict/records/${record.id}`));
    expectOk(await admin.delete(`${collections}/authors/records/${author.id}`));
  });

  it('takes its record along when it says so, down to the last descendant', async () => {
    const author = await create('authors', {});
    const record = await create('bound', { author: author.id });
    expectOk(await admin.delete(`${collections}/authors/records/${author.id}`));
    expect(await statusOf('bound', record)).toBe(404);
    const root = await create('tree', {});
    const child = await create('tree', { parent: root.id });
    const grandchild = await create('tree', { parent: child.id });
    const stranger = await create('tree', {});
    expectOk(await admin.delete(`${collections}/tree/records/${root.id}`));
    expect(await statusOf('tree', grandchild)).toBe(404);
    expect(await statusOf('tree', stranger)).toBe(200);
  });

  it('follows a change of what it says', async () => {
    const relation = { name: 'author', kind: 'relation', target: 'authors' };
    await define('turning', [relation]);
    const path = `${collections}/turning`;
    const author = await create('authors', {});
    const record = await create('turning', { author: author.id });
    expectOk(await admin.patch(path, { schema: { fields: [{ ...relation, required: true }] } }));
    expect((await admin.delete(`${collections}/authors/records/${author.id}`)).status).toBe(409);
    expectOk(await admin.patch(path, { schema: { fields: [{ ...relation, cascade_delete: true }] } }));
    expectOk(await admin.delete(`${collections}/authors/records/${author.id}`));
    expect(await statusOf('turning', record)).toBe(404);
    const moved = await admin.patch(path, { schema: { fields: [{ ...relation, target: 'tree' }] } });
    expect(moved.body.message).toContain('schema.fields.author.target');
  });

  it('may point to the workspace’s users, and to none that is not there', async () => {
    expect((await create('owned', {})).fields).toEqual({ owner: null });
    const refused = await admin.post(`${collections}/owned/records`, { owner: randomUUID() });
    expect(refused.body.message).toBe('owner: there is no record with this id');
  });

  it('that is unique has one record for each target', async () => {
    await define('single', [{ name: 'of', kind: 'relation', target: 'authors', unique: true }]);
    const author = await create('authors', {});
    await create('single', { of: author.id });
    const second = await admin.post(`${collections}/single/records`, { of: author.id });
    expect(second).toMatchObject({ status: 409, body: { message: 'of: another record has this value' } });
  });

  it('is never left dangling by creates and deletes at once', async () => {
    for (let round = 0; round < 5; round++) {
      const author = await create('authors', {});
      const [removed, ...made] = await Promise.all([
        admin.delete(`${collections}/authors/records/${author.id}`),
        ...Array.from(
          { length: 10 },
          () => admin.post(`${collections}/strict/records`, { author: author.id }),
        ),
      ]);
      expect([200, 409]).toContain(removed.status);
      for (const { status } of made) expect([201, 400]).toContain(status);
      const kept = made.filter(({ status }) => status === 201);
      expect(await statusOf('authors', author)).toBe(
        kept.length > 0 ? 200 : removed.status === 200 ? 404 : 200,
      );
    }
  });
});
