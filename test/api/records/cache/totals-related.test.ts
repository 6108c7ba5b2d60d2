// Cached totals that depend on other collections.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCollection } from '../../../../api/collections/create.ts';
import { removeStored } from '../../../../api/files/remove.ts';
import { runBatch } from '../../../../api/records/batch.ts';
import { createRecord } from '../../../../api/records/create.ts';
import { listRecords } from '../../../../api/records/list.ts';
import { removeRecord } from '../../../../api/records/remove.ts';
import { updateRecord } from '../../../../api/records/update.ts';
import { admit, unboundedAccess } from '../../../../api/rules/access.ts';
import { putRule } from '../../../../api/rules/change.ts';
import { removeUser } from '../../../../api/users/remove.ts';
import { LocalBlobs } from '../../../../storage/blobs/local.ts';
import { insertFile } from '../../../../storage/app/files.ts';
import { type BareApp, bareApp, relationTo } from '../../../harness/bare-app.ts';
import { soleWriter } from '../../../harness/sole-writer.ts';

let app: BareApp;
let deps: BareApp['deps'];

const now = new Date();
const access = unboundedAccess('list', now);
// A page that is not full says by itself how many there are.
const page = { page: 1, per_page: 1, count: true };

beforeAll(async () => {
  app = await bareApp();
  deps = soleWriter(app.deps);
});
afterAll(() => app.end());

async function total(collection: string, filter?: string): Promise<number> {
  return (await listRecords(deps, await app.target(collection), { access, page, filter })).total_items;
}

async function create(collection: string, input: Record<string, unknown>): Promise<string> {
  return (await createRecord(deps, await app.target(collection), { access, input, now })).id;
}

describe('a cached total', () => {
  it('follows what goes with a record by several relations', async () => {
    await app.define('authors', [{ name: 'name', kind: 'text' }]);
    await app.define('posts', [relationTo('authors', 'author', { cascade_delete: true })]);
    await app.define('comments', [relationTo('posts', 'post', { cascade_delete: true })]);
    await app.define('likes', [relationTo('comments', 'comment')]);
    const authors = [await create('authors', { name: 'Eva' }), await create('authors', { name: 'Eli' })];
    for (const author of [...authors, ...authors]) {
      const comment = await create('comments', { post: await create('posts', { author }) });
      await create('likes', { comment });
    }
    expect(await total('comments')).toBe(4);
    expect(await total('likes', 'comment != null')).toBe(4);
    await removeRecord(deps, await app.target('authors'), { access, id: authors[0] ?? '', now });
    expect(await total('comments')).toBe(2);
    expect(await total('likes', 'comment != null')).toBe(2);
  });

  it('follows what its rule looks at, and what those look at that say what a filter may look at', async () => {
    await app.define('teams', [{ name: 'open', kind: 'bool' }]);
    await app.define('members', [{ name: 'name', kind: 'text' }, relationTo('teams', 'team')]);
    await app.define('tasks', [relationTo('members', 'member')]);
    const rules = { tasks: { list: 'any' }, members: { get: 'team.open = true' } };
    for (const [collection, rule] of Object.entries(rules)) {
      const target = await app.target(collection);
      for (const [action, filter] of Object.entries(rule)) {
        const input = filter === 'any'
          ? { template: 'any' as const }
          : { template: 'filter' as const, filter };
        await putRule(deps, target, input, { action, by: app.by });
      }
    }
    const team = await create('teams', { open: true });
    const other = await create('teams', { open: true });
    for (const each of [team, team, other, other]) {
      await create('tasks', { member: await create('members', { name: 'x', team: each }) });
    }
    const seen = async (filter?: string) => {
      const target = await app.target('tasks');
      const asked = await admit(deps, target, 'list', { principal: null, now, query: {} });
      return (await listRecords(deps, target, { access: asked, page, filter })).total_items;
    };
    expect(await seen('member.name = "x"')).toBe(4);
    await updateRecord(deps, await app.target('teams'), { access, id: team, input: { open: false }, now });
    expect(await seen('member.name = "x"')).toBe(2);
    const list = { template: 'filter' as const, filter: 'member.team.open = true' };
    await putRule(deps, await app.target('tasks'), list, { action: 'list', by: app.by });
    expect(await seen()).toBe(2);
    await updateRecord(deps, await app.target('teams'), { access, id: team, input: { open: true }, now });
    expect(await seen()).toBe(4);
  });

  it('follows what is emptied when a file goes', async () => {
    await app.define('scans', [{ name: 'file', kind: 'file' }]);
    const found = await app.definition();
    const files = [randomUUID(), randomUUID()];
    for (const id of files) {
      const file = { id, filename: 'a', mime: 'text/plain', size: 1, uploaded_by: null, created_at: now };
      await app.run((sql) => insertFile(sql, found.schema, file));
    }
    for (const file of [...files, files[0]]) await create('scans', { file });
    expect(await total('scans', 'file != null')).toBe(3);
    await removeStored({ ...deps, blobs: new LocalBlobs('/nowhere') }, found, {
      id: files[0] ?? '',
      caller: undefined,
      now,
    });
    expect(await total('scans', 'file != null')).toBe(1);
  });

  it('follows what profiles show of their users', async () => {
    const declared = { id: 'profiles', kind: 'auth', fields: [] } as const;
    await createCollection(deps, await app.definition(), { declared, by: app.by });
    for (const name of ['cat', 'dan']) await create('profiles', { email: `${name}@example.com` });
    expect(await total('profiles', 'verified = false')).toBe(2);
    const { workspace } = await app.definition();
    await deps.databases.workspace(workspace.database).run((sql) =>
      sql`update workspace.users set verified = true where email = 'cat@example.com'`
    );
    expect(await total('profiles', 'verified = false')).toBe(1);
  });

  it('follows what goes with a user', async () => {
    await app.define('orders', [relationTo('users', 'buyer', { cascade_delete: true })]);
    const { workspace } = await app.definition();
    const made = await deps.databases.workspace(workspace.database).run((sql) =>
      sql<{ id: string }[]>`
        insert into workspace.users (id, email, verified, created_at, updated_at)
        select gen_random_uuid(), email, true, now(), now()
        from unnest(array['ann@example.com', 'ben@example.com']) as email returning id`
    );
    for (const { id } of [...made, ...made]) await create('orders', { buyer: id });
    expect(await total('orders')).toBe(4);
    await removeUser(deps, { workspace, id: made[0]?.id ?? '' }, app.by);
    expect(await total('orders')).toBe(2);
  });

  it('follows a batch, and what is deleted along with its records', async () => {
    await app.define('parents', []);
    await app.define('children', [relationTo('parents', 'parent', { cascade_delete: true })]);
    const [kept, deleted] = [await create('parents', {}), await create('parents', {})];
    for (let n = 0; n < 2; n++) await create('children', { parent: deleted });
    expect([await total('parents'), await total('children')]).toEqual([2, 2]);
    await runBatch(deps, await app.definition(), {
      requests: [
        { method: 'POST', collection: 'children', body: { parent: kept } },
        { method: 'POST', collection: 'parents', body: {} },
        { method: 'DELETE', collection: 'parents', id: deleted },
      ],
      asking: { principal: app.by.principal, now, query: {} },
    });
    expect([await total('parents'), await total('children')]).toEqual([2, 1]);
  });
});
