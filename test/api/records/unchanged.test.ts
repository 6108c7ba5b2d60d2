// A PATCH that gives a record no other value than it has.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, ownWorkspace } from '../../harness/api.ts';
import { upload } from '../../harness/file-app.ts';
import { hookedApp, seen } from '../../harness/hooked-app.ts';
import { scenario, title } from '../../harness/scenario.ts';
import { watched } from '../../harness/watched.ts';

const fields = [
  { name: 'title', kind: 'text' },
  { name: 'price', kind: 'number' },
  { name: 'open', kind: 'bool' },
  { name: 'meta', kind: 'json' },
  { name: 'due', kind: 'datetime' },
  { name: 'mail', kind: 'email', unique: true },
  { name: 'site', kind: 'url' },
  { name: 'state', kind: 'select', options: ['new', 'done'] },
  { name: 'parent', kind: 'relation', target: 'things' },
  { name: 'picture', kind: 'file' },
];

describe('a record that is given no other value', () => {
  let admin: Caller;
  let records: string;
  let full: { id: string; updated_at: string; fields: Record<string, unknown> };
  beforeAll(async () => {
    const made = await scenario({ collections: { things: fields } });
    admin = made.admin;
    records = made.records('things');
    const parent = expectOk(await admin.post(records, {}));
    const picture = await upload(admin, made.app, 'a picture');
    full = expectOk(
      await admin.post(records, {
        title: 'Ünï',
        price: 0.1 + 0.2,
        open: false,
        meta: { list: [1, 'a', null] },
        due: '2026-01-02T03:04:05.678+01:00',
        mail: 'Someone@Example.com',
        site: 'https://example.com',
        state: 'done',
        parent: parent.id,
        picture: picture.id,
      }),
    );
  });

  it('is as it was, updated_at included', async () => {
    const bodies = [{}, full.fields, { title: 'Ünï' }, {
      mail: 'SOMEONE@example.com',
      meta: { list: [1, 'a', null] },
    }];
    for (const body of bodies) {
      expect(await admin.patch(`${records}/${full.id}`, body)).toMatchObject({ status: 200, body: full });
    }
    expect((await admin.get(`${records}/${full.id}`)).body).toEqual(full);
    const empty = expectOk(await admin.post(records, {}));
    const nulls = Object.fromEntries(fields.map(({ name }) => [name, null]));
    expect((await admin.patch(`${records}/${empty.id}`, nulls)).body).toEqual(empty);
  });

  it('changes as soon as one of its values does, to nothing and from nothing', async () => {
    let last = full;
    for (
      const body of [{ ...full.fields, title: null }, { ...full.fields, title: '' }, { title: 'Ünï' }, {
        due: null,
      }]
    ) {
      const next: typeof full = expectOk(await admin.patch(`${records}/${full.id}`, body));
      expect(next.updated_at > last.updated_at).toBe(true);
      last = next;
    }
  });

  it('is looked for, checked and refused as others are', async () => {
    const missing = '018f3c6e-1111-7000-8000-0123456789ab';
    expect(await admin.patch(`${records}/${missing}`, {})).toMatchObject({ status: 404 });
    expect(await as().patch(`${records}/${full.id}`, {})).toMatchObject({ status: 401 });
    expect(await admin.patch(`${records}/${full.id}`, { titel: 'x' })).toMatchObject({ status: 400 });
  });
});

it('no event tells of it, of one in a batch neither', async () => {
  const app = await scenario();
  const posts = await watched(app, { list: 'any' }, [title]);
  const stream = await posts.watch();
  const { id } = await posts.create({ title: 'a' });
  await posts.change(id, { title: 'a' });
  const requests = [{ method: 'PATCH', collection: posts.name, id, body: { title: 'a' } }];
  expectOk(await app.admin.post(app.collections.replace(/collections$/, 'batch'), { requests }));
  await posts.change(id, { title: 'b' });
  await stream.count(2);
  expect(stream.events.map(({ event }) => event)).toEqual(['record_created', 'record_updated']);
  expect(stream.events[1]?.data).toMatchObject({ fields: { title: 'b' } });
  stream.socket.destroy();
});

it('hooks run around it all the same, and may change the record', async () => {
  const app = await hookedApp(
    await ownWorkspace(),
    `
    onRecordBeforeUpdate('posts', (e) => { if (e.record.fields.title === 'count') e.record.fields.count = 1; });
    onRecordAfterUpdate('posts', async (e) => {
      await $app.records.create('seen', { what: 'after', data: e.record.fields.count });
    });
    `,
  );
  const posts = app.records('posts');
  const plain = expectOk(await app.admin.post(posts, { title: 'plain' }));
  expect((await app.admin.patch(`${posts}/${plain.id}`, {})).body).toEqual(plain);
  const counted = expectOk(await app.admin.post(posts, { title: 'count' }));
  const changed = expectOk(await app.admin.patch(`${posts}/${counted.id}`, {}));
  expect(changed.fields.count).toBe(1);
  expect(changed.updated_at > counted.updated_at).toBe(true);
  expect(await seen(app)).toEqual([{ what: 'after', data: null }, { what: 'after', data: 1 }]);
});
