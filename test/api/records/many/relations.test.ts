// Relations that hold many: references to what is there, under the rules of what they point to.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { type EndUser, owner, type Scenario, scenario, title, titlesOf } from '../../../harness/scenario.ts';

let app: Scenario;
let admin: Caller;
let ada: EndUser;
let bob: EndUser;
let people: string;
let teams: string;
let strict: string;
let bound: string;

const members = { name: 'members', kind: 'relation', target: 'people', many: true };

beforeAll(async () => {
  app = await scenario();
  ({ admin } = app);
  [ada, bob] = [await app.user(), await app.user()];
  people = await app.define('people', [title, owner], {
    list: 'any',
    get: 'owner = @request.auth.id || title = "open"',
  });
  teams = await app.define('teams', [title, members], {
    list: 'any',
    get: 'any',
    create: 'any',
    update: 'any',
  });
  strict = await app.define('strict', [{ ...members, required: true }]);
  bound = await app.define('bound', [{ ...members, cascade_delete: true }]);
});

async function person(values: Record<string, unknown> = {}): Promise<string> {
  return await app.make(people, values);
}

async function membersOf(records: string, id: string): Promise<string[]> {
  return expectOk(await admin.get(`${records}/${id}`)).fields.members;
}

describe('a relation of many', () => {
  it('refuses ids of nobody, also on a change, and names the field', async () => {
    const one = await person();
    const id = await app.make(teams, { members: [one] });
    for (
      const refused of [
        await admin.post(teams, { members: [one, randomUUID()] }),
        await admin.patch(`${teams}/${id}`, { members: [one, randomUUID()] }),
      ]
    ) {
      expectError(refused, 400, 'validation');
      expect(refused.body.message).toBe('members: there is no record with this id');
    }
    expect(await membersOf(teams, id)).toEqual([one]);
  });

  it('loses what is deleted, and keeps the order of the rest', async () => {
    const [a, b, c] = [await person(), await person(), await person()];
    const id = await app.make(teams, { members: [c, a, b] });
    const before = expectOk(await admin.get(`${teams}/${id}`));
    expectOk(await admin.delete(`${people}/${a}`));
    const after = expectOk(await admin.get(`${teams}/${id}`));
    expect(after.fields.members).toEqual([c, b]);
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expectOk(await admin.patch(`${teams}/${id}`, { members: [b] }));
    expectOk(await admin.delete(`${people}/${c}`));
    expectOk(await admin.delete(`${people}/${b}`));
    expect(await membersOf(teams, id)).toEqual([]);
  });

  it('keeps its last target from being deleted when it is required', async () => {
    const [a, b] = [await person(), await person()];
    const id = await app.make(strict, { members: [a, b] });
    expectOk(await admin.delete(`${people}/${a}`));
    expectError(await admin.delete(`${people}/${b}`), 409, 'conflict');
    expect(await membersOf(strict, id)).toEqual([b]);
    expectOk(await admin.delete(`${strict}/${id}`));
    expectOk(await admin.delete(`${people}/${b}`));
  });

  it('takes its record along when it says so, whichever target goes', async () => {
    const [a, b] = [await person(), await person()];
    const id = await app.make(bound, { members: [a, b] });
    expectOk(await admin.delete(`${people}/${b}`));
    expect((await admin.get(`${bound}/${id}`)).status).toBe(404);
    expect((await admin.get(`${people}/${a}`)).status).toBe(200);
  });

  it('points to records of its own collection, which go together', async () => {
    const tree = await app.define('tree', [{
      ...members,
      name: 'below',
      target: 'tree',
      cascade_delete: true,
    }]);
    const leaf = await app.make(tree, {});
    const root = await app.make(tree, { below: [leaf] });
    expectOk(await admin.patch(`${tree}/${leaf}`, { below: [root] }));
    expectOk(await admin.delete(`${tree}/${leaf}`));
    expect(expectOk(await admin.get(tree)).total_items).toBe(0);
    expectOk(await admin.delete(`${app.collections}/tree`));
  });

  it('loses users who are deleted', async () => {
    const circle = await app.define('circle', [{ ...members, target: 'users' }]);
    const [one, other] = [await app.user(), await app.user()];
    const id = await app.make(circle, { members: [one.id, other.id] });
    expectOk(await app.workspace.admin.delete(`${app.workspace.path}/users/${one.id}`));
    expect(await membersOf(circle, id)).toEqual([other.id]);
  });

  it('is written in batches, each seeing what those before have done', async () => {
    const [a, b] = [await person(), await person()];
    const id = await app.make(teams, { members: [a] });
    const batch = await admin.post(`${app.app.path}/batch`, {
      requests: [
        { method: 'PATCH', collection: 'teams', id, body: { members: [b, a] } },
        { method: 'DELETE', collection: 'people', id: a },
        { method: 'POST', collection: 'teams', body: { members: [b] } },
      ],
    });
    expect(expectOk(batch).results.map(({ status }: { status: number }) => status)).toEqual([200, 200, 201]);
    expect(await membersOf(teams, id)).toEqual([b]);
  });

  it('has no item of nobody, whatever is deleted while it is written', async () => {
    const all = await Promise.all(Array.from({ length: 30 }, () => person()));
    const id = await app.make(teams, {});
    const rest = all.slice(15);
    await Promise.all([
      ...all.slice(0, 15).map((each) => admin.delete(`${people}/${each}`)),
      ...all.map((each, index) =>
        admin.patch(`${teams}/${id}`, { members: [...rest.slice(0, index), each, ...rest.slice(index)] })
      ),
    ]);
    const left = await membersOf(teams, id);
    expect(left.filter((each) => !rest.includes(each))).toEqual([]);
  });
});

describe('what an end-user makes of it', () => {
  it('must be readable to him, and may name users freely', async () => {
    const [hers, open, his] = [
      await person({ owner: ada.id }),
      await person({ title: 'open' }),
      await person({ owner: bob.id }),
    ];
    expectOk(await ada.post(teams, { members: [hers, open] }));
    const refused = await ada.post(teams, { members: [hers, his] });
    const unknown = await ada.post(teams, { members: [hers, randomUUID()] });
    expectError(refused, 400, 'validation');
    expect(refused.body).toEqual(unknown.body);
    const id = await app.make(teams, { members: [his] });
    expectError(await ada.patch(`${teams}/${id}`, { members: [his, hers] }), 400, 'validation');
    expectOk(await ada.patch(`${teams}/${id}`, { title: 'new', members: [hers] }));
    const circle = await app.define('open_circle', [{ ...members, target: 'users' }], { create: 'auth' });
    expectOk(await ada.post(circle, { members: [ada.id, bob.id] }));
  });

  it('expands to the records that he may read, in order', async () => {
    const [hers, open, his] = [
      await person({ owner: ada.id }),
      await person({ title: 'open' }),
      await person({ owner: bob.id }),
    ];
    const id = await app.make(teams, { title: 'expanded', members: [his, open, hers] });
    const expanded = async (caller: Caller) =>
      expectOk(await caller.get(`${teams}/${id}?expand=members`)).expand.members.map(
        ({ id }: { id: string }) => id,
      );
    expect(await expanded(admin)).toEqual([his, open, hers]);
    expect(await expanded(ada)).toEqual([open, hers]);
    expect(await expanded(as())).toEqual([open]);
    const backward = expectOk(await ada.get(`${people}/${open}?expand=teams_via_members`)).expand;
    expect(backward).toMatchObject({
      teams_via_members: expect.arrayContaining([expect.objectContaining({ id })]),
    });
    const empty = await app.make(teams, {});
    expect(expectOk(await ada.get(`${teams}/${empty}?expand=members`)).expand).toEqual({ members: [] });
    const deep = await app.define('leagues', [{ ...members, name: 'teams', target: 'teams' }], {
      get: 'any',
    });
    const league = await app.make(deep, { teams: [id, empty] });
    const found = expectOk(await ada.get(`${deep}/${league}?expand=teams.members`));
    expect(found.expand.teams).toMatchObject([
      { id, expand: { members: [{ id: open }, { id: hers }] } },
      { id: empty, expand: { members: [] } },
    ]);
  });

  it('is filtered by what he may read of the members, and backwards', async () => {
    const list = await app.define('filtered', [title, members], { list: 'any', get: 'any' });
    const [his, open] = [await person({ title: 'his', owner: bob.id }), await person({ title: 'open' })];
    await app.make(list, { title: 'closed', members: [his] });
    await app.make(list, { title: 'mixed', members: [his, open] });
    await app.make(list, { title: 'empty' });
    const found = async (caller: Caller, filter: string) =>
      titlesOf(await caller.get(`${list}?sort=title&filter=${encodeURIComponent(filter)}`));
    for (
      const [filter, all, seen] of [
        ["members.title = 'his'", ['closed', 'mixed'], []],
        ["members.title ~ 'o'", ['mixed'], ['mixed']],
        [`members(title = 'his' && owner = '${bob.id}')`, ['closed', 'mixed'], []],
        ["members.title != 'open'", ['closed', 'empty'], ['closed', 'empty']],
        [`members = '${his}'`, ['closed', 'mixed'], ['closed', 'mixed']],
        [`members != '${his}'`, ['empty'], ['empty']],
        ["members.filtered_via_members(title = 'mixed')", ['closed', 'mixed'], ['mixed']],
      ] as const
    ) {
      expect([filter, await found(admin, filter)]).toEqual([filter, all]);
      expect([filter, await found(ada, filter)]).toEqual([filter, seen]);
    }
  });
});

describe('a rule about members', () => {
  it('lets in those who are, on every action', async () => {
    const member = 'members = @request.auth.id';
    const rooms = await app.define('rooms', [title, { ...members, target: 'users' }], {
      list: member,
      get: member,
      create: member,
      update: member,
      delete: member,
    });
    const room = { name: 'room', kind: 'relation', target: 'rooms' };
    const talks = await app.define('talks', [title, room], { list: 'room.members = @request.auth.id' });
    const hers = expectOk(await ada.post(rooms, { title: 'hers', members: [ada.id] }));
    expectError(await ada.post(rooms, { members: [bob.id] }), 403, 'forbidden');
    expectError(await ada.post(rooms, {}), 403, 'forbidden');
    const his = await app.make(rooms, { title: 'his', members: [bob.id] });
    await app.make(talks, { title: 'one', room: hers.id });
    await app.make(talks, { title: 'two', room: his });
    await app.make(talks, { title: 'three' });
    expect(titlesOf(await ada.get(rooms))).toEqual(['hers']);
    expect(titlesOf(await ada.get(talks))).toEqual(['one']);
    expectError(await ada.get(`${rooms}/${his}`), 403, 'forbidden');
    expectError(await ada.patch(`${rooms}/${his}`, { members: [ada.id, bob.id] }), 403, 'forbidden');
    expectError(await as().get(`${rooms}/${his}`), 401, 'unauthorized');
    expectOk(await ada.patch(`${rooms}/${hers.id}`, { members: [ada.id, bob.id] }));
    expect(titlesOf(await bob.get(`${rooms}?sort=title`))).toEqual(['hers', 'his']);
    expectOk(await bob.patch(`${rooms}/${hers.id}`, { members: [bob.id] }));
    expectError(await ada.get(`${rooms}/${hers.id}`), 403, 'forbidden');
  });
});
