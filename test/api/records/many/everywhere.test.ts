// Fields that hold many in streams, hooks and files.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { upload } from '../../../harness/file-app.ts';
import { type EndUser, type Scenario, scenario, title } from '../../../harness/scenario.ts';
import { relationTo, titlesOf, tokenOf, watched, watchedFields } from '../../../harness/watched.ts';

const labels = { name: 'labels', kind: 'select', options: ['new', 'old', 'hooked'], many: true };

let app: Scenario;
let ada: EndUser;
let bob: EndUser;

beforeAll(async () => {
  app = await scenario({
    collections: {
      labels: [title],
      hooked: [title, labels, relationTo('labels', 'also', { many: true })],
      journal: [{ name: 'what', kind: 'json' }],
    },
    hooks: {
      'many.ts': `
        onRecordBeforeCreate('hooked', (e) => { e.record.fields.labels.push('hooked'); });
        onRecordBeforeUpdate('hooked', (e) => {
          if (e.record.fields.also.length < e.previous.fields.also.length) e.record.fields.labels = ['old'];
        });
        onRecordAfterUpdate('hooked', async (e) => {
          const what = [e.previous.fields.also.length, e.record.fields.also.length, e.record.fields.labels];
          await $app.records.create('journal', { what });
        });
        routerAdd('POST', '/label', async () => {
          const { id } = await $app.records.create('hooked', { labels: ['new', 'new'] });
          return await $app.records.update('hooked', id, { labels: ['old', 'new'] });
        });`,
    },
  });
  [ada, bob] = [await app.user(), await app.user()];
});

describe('a stream', () => {
  it('sse.authz-live: shows a record to those who are among its members, before and after', async () => {
    const member = 'members = @request.auth.id';
    const rooms = await watched(app, { list: member, get: member }, [
      ...watchedFields,
      relationTo('users', 'members', { many: true }),
    ]);
    const talks = await watched(app, { list: `room.${member}` }, [
      ...watchedFields,
      relationTo(rooms.name, 'room'),
    ]);
    const [hers, his] = [
      await rooms.watch({ token: tokenOf(ada) }),
      await rooms.watch({ token: tokenOf(bob) }),
    ];
    const [talkHers, talkHis] = [
      await talks.watch({ token: tokenOf(ada) }),
      await talks.watch({ token: tokenOf(bob), filter: 'room.members != null' }),
    ];
    const room = await rooms.create({ title: 'first', members: [ada.id] });
    await talks.create({ title: 'one', room: room.id });
    await talkHers.count(1);
    await rooms.change(room.id, { title: 'both', members: [bob.id, ada.id] });
    await talks.create({ title: 'two', room: room.id });
    await talkHis.count(1);
    await rooms.change(room.id, { title: 'his', members: [bob.id] });
    await talks.create({ title: 'three', room: room.id });
    await talkHis.count(2);
    await his.count(2);
    expect(titlesOf(his)).toEqual(['both', 'his']);
    expect(titlesOf(hers)).toEqual(['first', 'both']);
    expect(titlesOf(talkHers)).toEqual(['one', 'two']);
    expect(titlesOf(talkHis)).toEqual(['two', 'three']);
    for (const { socket } of [hers, his, talkHers, talkHis]) socket.destroy();
  });

  it('decides what is asked of each member, and tells of one who is gone', async () => {
    const people = await watched(app, { list: 'any', get: 'owner != "hidden"' });
    const teams = await watched(app, { list: `members(title = 'captain')` }, [
      ...watchedFields,
      relationTo(people.name, 'members', { many: true }),
    ]);
    const all = await teams.watch({ token: tokenOf(ada) });
    const seen = await teams.watch({ token: tokenOf(ada), filter: `members.owner = 'hidden'` });
    const [captain, hidden] = [
      await people.create({ title: 'captain' }),
      await people.create({ title: 'mate', owner: 'hidden' }),
    ];
    await teams.create({ title: 'without', members: [hidden.id] });
    const team = await teams.create({ title: 'with', members: [hidden.id, captain.id] });
    await all.count(1);
    await people.remove(hidden.id);
    const events = await all.count(2);
    expect(events[1]).toMatchObject({
      event: 'record_updated',
      data: { id: team.id, fields: { members: [captain.id] } },
    });
    await teams.remove(team.id);
    await all.count(3);
    expect(titlesOf(all)).toEqual(['with', 'with', 'with']);
    expect(titlesOf(seen)).toEqual([]);
    for (const { socket } of [all, seen]) socket.destroy();
  });
});

describe('hooks', () => {
  it('see and change arrays, also where a target was deleted', async () => {
    const records = app.records('hooked');
    const [a, b] = [await app.make(app.records('labels'), {}), await app.make(app.records('labels'), {})];
    const made = expectOk(await app.admin.post(records, { also: [a, b] }));
    expect(made.fields).toEqual({ title: null, labels: ['hooked'], also: [a, b] });
    expectOk(await app.admin.delete(`${app.records('labels')}/${a}`));
    expect(expectOk(await app.admin.get(`${records}/${made.id}`)).fields).toMatchObject({
      labels: ['old'],
      also: [b],
    });
    const journal = async () => expectOk(await app.admin.get(app.records('journal'))).items;
    await expect.poll(journal).toMatchObject([{ fields: { what: [2, 1, ['old']] } }]);
  });

  it('write them, and have types for them', async () => {
    const updated = await app.admin.post(`${app.app.path}/custom/label`, {});
    expect(expectOk(updated).fields).toMatchObject({ labels: ['old', 'new'], also: [] });
    const types = await app.admin.get(`${app.app.path}/hooks/types`);
    expect(types.text).toContain('labels: ("new" | "old" | "hooked")[];');
    expect(types.text).toContain('also: (string)[];');
  });
});

describe('a field of many files', () => {
  it('holds files of the app, which whoever may get the record may read', async () => {
    const albums = await app.define('albums', [
      title,
      { name: 'pictures', kind: 'file', many: true },
      relationTo('users', 'viewers', { many: true }),
    ], { get: 'viewers = @request.auth.id', create: 'auth', update: 'auth' });
    const [one, two] = [(await upload(ada, app.app, '1')).id, (await upload(ada, app.app, '2')).id];
    const album = expectOk(await ada.post(albums, { pictures: [one, two], viewers: [ada.id] }));
    const statusFor = async (caller: Caller, id: string) =>
      (await caller.get(`${app.app.path}/files/${id}/meta`)).status;
    expect([await statusFor(bob, one), await statusFor(bob, two)]).toEqual([403, 403]);
    expect(await statusFor(as(), two)).toBe(401);
    const [stolen, unknown] = [
      await bob.post(albums, { pictures: [two] }),
      await bob.post(albums, { pictures: [randomUUID()] }),
    ];
    expectError(stolen, 400, 'validation');
    expect(stolen.body).toEqual(unknown.body);
    expectOk(await app.admin.patch(`${albums}/${album.id}`, { viewers: [bob.id] }));
    expect([await statusFor(bob, one), await statusFor(bob, two)]).toEqual([200, 200]);
    expectOk(await ada.delete(`${app.app.path}/files/${one}`));
    expect(expectOk(await bob.get(`${albums}/${album.id}`)).fields.pictures).toEqual([two]);
  });
});
