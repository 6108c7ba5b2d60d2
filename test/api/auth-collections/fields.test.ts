// What a profile shows of its user, for filters, sorts, rules, selections and relations.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, type OwnApp, type OwnWorkspace, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { nick, password, type ProfileApp, profileApp } from '../../harness/profiles.ts';
import { freshEmail } from '../../harness/users.ts';
import { openEvents } from '../realtime/event-client.ts';

const anyone = as();
let store: ProfileApp;
let workspace: OwnWorkspace;
let app: OwnApp;
let admin: Caller;
let members: string;
let notes: string;

/** Three users: `a` has logged in, `b` is verified, `c` is neither. */
const people = ['a', 'b', 'c'].map((name) => ({ name, email: `${name}.${freshEmail()}`, id: '' }));

async function nicksOf(query: string, path: string = members, caller: Caller = admin): Promise<string[]> {
  const { items } = expectOk(await caller.get(`${path}?${query}`));
  return items.map(({ fields }: { fields: { nick: string } }) => fields.nick);
}

function filtered(filter: string): string {
  return `sort=nick&filter=${encodeURIComponent(filter)}`;
}

beforeAll(async () => {
  store = await profileApp();
  ({ workspace, app, admin } = store);
  const rules = { list: 'any', get: 'verified = true', create: 'any' };
  members = await store.profiles('members', { rules });
  for (const person of people) {
    const body = { email: person.email, password, nick: person.name };
    person.id = expectOk(await anyone.post(members, body)).id;
  }
  await store.login(people[0]?.email ?? '');
  await workspace.admin.patch(`${workspace.path}/users/${people[1]?.id}/verify`, { verified: true });
  const path = `${app.path}/collections`;
  const fields = [nick, { name: 'member', kind: 'relation', target: 'members' }];
  expectOk(await admin.post(path, { schema: { id: 'notes', fields } }));
  for (const action of ['list', 'create']) {
    expectOk(await admin.put(`${path}/notes/access_rules/${action}`, { template: 'any' }));
  }
  notes = `${path}/notes/records`;
  for (const { name, id } of people) expectOk(await admin.post(notes, { nick: `note ${name}`, member: id }));
  expectOk(await admin.post(notes, { nick: 'note of nobody' }));
});

describe('the user’s fields of a profile', () => {
  it.each([
    ['verified = true', ['b']],
    ['verified != true', ['a', 'c']],
    ['!(verified = true) && nick != "a"', ['c']],
    ['last_login != null', ['a']],
    ['last_login < @now', ['a']],
    ['email ~ "b."', ['b']],
    ['email = nick', []],
    ['email > nick', ['a', 'b', 'c']],
    ['oauth_providers.0 = null', ['a', 'b', 'c']],
    ['oauth_providers.0 = "google"', []],
  ])('pass the filter %s', async (filter, expected) => {
    expect(await nicksOf(filtered(filter))).toEqual(expected);
    const { total_items } = expectOk(await admin.get(`${members}?per_page=1&${filtered(filter)}`));
    expect(total_items).toBe(expected.length);
  });

  it('are found by the email itself', async () => {
    for (const { name, email } of people) {
      expect(await nicksOf(filtered(`email = '${email}'`))).toEqual([name]);
    }
  });

  it.each([
    ['email', ['a', 'b', 'c']],
    ['-email', ['c', 'b', 'a']],
    ['-verified,-nick', ['b', 'c', 'a']],
    ['last_login,-nick', ['a', 'c', 'b']],
    ['oauth_providers,nick', ['a', 'b', 'c']],
  ])('sort by %s', async (sort, expected) => {
    expect(await nicksOf(`sort=${sort}`)).toEqual(expected);
    const second = expectOk(await admin.get(`${members}?sort=${sort}&per_page=1&page=2`));
    expect(second).toMatchObject({ total_items: 3, items: [{ fields: { nick: expected[1] } }] });
  });

  it('can be selected', async () => {
    const { items } = expectOk(await admin.get(`${members}?fields=email,nick&sort=nick`));
    expect(items.map(({ fields }: { fields: unknown }) => fields))
      .toEqual(people.map(({ name, email }) => ({ email, nick: name })));
    const one = expectOk(await admin.get(`${members}/${people[1]?.id}?fields=verified`));
    expect(one).toEqual({ id: people[1]?.id, collection: 'members', fields: { verified: true } });
  });

  it('count in a rule as they are by now', async () => {
    const [a, b] = people;
    expectOk(await anyone.get(`${members}/${b?.id}`));
    expectError(await anyone.get(`${members}/${a?.id}`), 401, 'unauthorized');
    expectOk(await workspace.admin.patch(`${workspace.path}/users/${a?.id}/verify`, { verified: true }));
    expectOk(await anyone.get(`${members}/${a?.id}`));
    expectOk(await workspace.admin.patch(`${workspace.path}/users/${a?.id}/verify`, { verified: false }));
    expectError(await anyone.get(`${members}/${a?.id}`), 401, 'unauthorized');
  });

  it('keep totals right that were remembered', async () => {
    const total = async (filter: string) =>
      expectOk(await admin.get(`${members}?per_page=1&${filtered(filter)}`)).total_items;
    const [a] = people;
    const gone = expectOk(await admin.post(members, { email: freshEmail(), nick: 'gone' }));
    for (const verified of [true, false]) {
      expect([await total('verified = true'), await total('')]).toEqual([verified ? 1 : 2, 4]);
      await workspace.admin.patch(`${workspace.path}/users/${a?.id}/verify`, { verified });
    }
    expectOk(await workspace.admin.delete(`${workspace.path}/users/${gone.id}`));
    expect([await total('verified = true'), await total('')]).toEqual([1, 3]);
  });

  it('pass the filter of a stream, which asks it in memory', async () => {
    const filter = encodeURIComponent('email ~ "seen." && verified = false && last_login = null');
    const path = `${app.path}/collections/members/events?filter=${filter}`;
    const client = await openEvents(Number(new URL(serverUrl()).port), { path });
    const ids = [];
    for (const part of ['seen', 'hidden', 'seen']) {
      ids.push(expectOk(await admin.post(members, { email: `${part}.${freshEmail()}`, nick: 'x' })).id);
    }
    const shown = await client.count(2);
    expect(shown.map(({ data }) => data)).toMatchObject([{ id: ids[0] }, { id: ids[2] }]);
    client.socket.destroy();
    for (const id of ids) expectOk(await admin.delete(`${members}/${id}`));
  });

  it('are reached through relations, under the rule of the profile', async () => {
    const path = filtered('member.verified = true');
    expect(await nicksOf(path, notes)).toEqual(['note b']);
    expect(await nicksOf(path, notes, anyone)).toEqual(['note b']);
    // The caller may not get the others: for it there is nothing at the end of the relation.
    const others = filtered('member.email ~ "@example.com"');
    expect(await nicksOf(others, notes)).toEqual(['note a', 'note b', 'note c']);
    expect(await nicksOf(others, notes, anyone)).toEqual(['note b']);
  });

  it('are shown where a profile is expanded', async () => {
    const { items } = expectOk(await anyone.get(`${notes}?sort=nick&expand=member`));
    expect(items.map(({ expand }: { expand: unknown }) => expand)).toEqual([
      { member: null },
      {
        member: expect.objectContaining({
          id: people[1]?.id,
          collection: 'members',
          fields: {
            email: people[1]?.email,
            verified: true,
            last_login: null,
            oauth_providers: [],
            nick: 'b',
          },
        }),
      },
      { member: null },
      { member: null },
    ]);
  });

  it('rule.relation-target: let nobody point to a profile that it may not get', async () => {
    const [a, b] = people;
    expectOk(await anyone.post(notes, { member: b?.id }));
    const refused = await anyone.post(notes, { member: a?.id });
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toBe('member: there is no record with this id');
  });
});

describe('filter.hidden-columns', () => {
  const asked: [string, (name: string) => string][] = [
    ['a filter', (name) => `filter=${name}%20!%3D%20null`],
    ['a filter for a part', (name) => `filter=${name}%20~%20%22argon2%22`],
    ['a sort', (name) => `sort=-${name}`],
    ['a selection', (name) => `fields=${name}`],
    ['an expansion', (name) => `expand=${name}`],
  ];

  it.each(asked)('filter.hidden-columns: %s knows no password_hash', async (_, query) => {
    const responses = [];
    for (const name of ['password_hash', 'password_hush', 'totp_sealed']) {
      for (const path of [members, notes]) {
        for (const place of path === notes ? [name, `member.${name}`] : [name]) {
          const refused = await admin.get(`${path}?${query(place)}`);
          expectError(refused, 400, 'unknown_column');
          responses.push(refused.text.replaceAll(name, 'NAME'));
        }
      }
    }
    // The same three answers for each of the names.
    expect(responses.slice(3)).toEqual([...responses.slice(0, 3), ...responses.slice(0, 3)]);
  });

  it('filter.hidden-columns: nor does a rule', async () => {
    const responses = [];
    for (const name of ['password_hash', 'password_hush', 'totp_sealed']) {
      const rule = { template: 'filter', filter: `${name} != ''` };
      const refused = await admin.put(`${app.path}/collections/members/access_rules/list`, rule);
      expectError(refused, 400, 'unknown_column');
      responses.push(refused.text.replaceAll(name, 'NAME'));
    }
    expect(new Set(responses).size).toBe(1);
  });
});
