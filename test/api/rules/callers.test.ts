// Rules and filters that read more of their caller than its token has: whether its address is verified, and its profile.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { type EndUser, type Scenario, scenario, title, titlesOf } from '../../harness/scenario.ts';

const profile = '@request.auth.profile.members';

let app: Scenario;
let [ada, bob, eve]: EndUser[] = [];
let notes: string;
let members: string;

beforeAll(async () => {
  app = await scenario();
  [ada, bob, eve] = [await app.user(), await app.user(), await app.user()];
  const fields = [
    { name: 'plan', kind: 'text' },
    { name: 'level', kind: 'number' },
    { name: 'meta', kind: 'json' },
  ];
  expectOk(await app.admin.post(app.collections, { schema: { id: 'members', kind: 'auth', fields } }));
  members = app.records('members');
  await app.make(members, { email: user(ada).email, plan: 'pro', level: 5, meta: { tags: ['a', 'b'] } });
  await app.make(members, { email: user(bob).email, plan: 'free', level: 2 });
  notes = await app.define('notes', [title, { name: 'level', kind: 'number' }], {
    list: 'auth',
    get: 'auth',
  });
  for (const level of [1, 3]) await app.make(notes, { title: `of ${level}`, level });
});

function user(one: EndUser | undefined): EndUser {
  if (one === undefined) throw new Error('no user');
  return one;
}

const listed = async (who: EndUser | undefined, query = '') =>
  titlesOf(await user(who).get(`${notes}?sort=level${query}`));
const verify = async (who: EndUser | undefined, verified: boolean) =>
  expectOk(
    await app.workspace.admin.patch(`/api/workspaces/${app.workspace.id}/users/${user(who).id}/verify`, {
      verified,
    }),
  );

describe('rule.caller: a rule', () => {
  it('asks whether the address is verified', async () => {
    await app.setRules('notes', {
      list: '@request.auth.verified = true',
      create: '@request.auth.verified = true',
    });
    expectError(await user(ada).get(notes), 403, 'forbidden');
    expectError(await user(ada).post(notes, { title: 'x' }), 403, 'forbidden');
    await verify(ada, true);
    expect(await listed(ada)).toEqual(['of 1', 'of 3']);
    await verify(ada, false);
    expectError(await user(ada).get(notes), 403, 'forbidden');
    expectError(await as().get(notes), 401, 'unauthorized');
  });

  it('asks when the user was made', async () => {
    await app.setRules('notes', {
      list: "@request.auth.created_at > '2020-01-01' && @request.auth.created_at <= @now",
    });
    expect(await listed(eve)).toEqual(['of 1', 'of 3']);
    await app.setRules('notes', { list: "@request.auth.created_at < '2020-01-01T00:00:00Z'" });
    expectError(await user(eve).get(notes), 403, 'forbidden');
  });

  it('compares records with the profile', async () => {
    await app.setRules('notes', { list: `level <= ${profile}.level` });
    expect([await listed(ada), await listed(bob)]).toEqual([['of 1', 'of 3'], ['of 1']]);
    // Without a profile everything about it is unknown, and stays so under a negation.
    expectError(await user(eve).get(notes), 403, 'forbidden');
    await app.setRules('notes', { list: `!(level <= ${profile}.level)` });
    expect([await listed(ada), await listed(bob)]).toEqual([[], ['of 3']]);
    expectError(await user(eve).get(notes), 403, 'forbidden');
    expectError(await as().get(notes), 401, 'unauthorized');
  });

  it('reads into JSON, and the address that the profile shows', async () => {
    await app.setRules('notes', { list: `${profile}.meta.tags.1 = 'b'` });
    expect(await listed(ada)).toEqual(['of 1', 'of 3']);
    expectError(await user(bob).get(notes), 403, 'forbidden');
    await app.setRules('notes', { list: `${profile}.email = '${user(bob).email.toUpperCase()}'` });
    expect(await listed(bob)).toEqual(['of 1', 'of 3']);
    expectError(await user(ada).get(notes), 403, 'forbidden');
  });

  it('holds for reading one record, creating, changing and deleting', async () => {
    const rule = `${profile}.plan = 'pro'`;
    await app.setRules('notes', { get: rule, create: rule, update: rule, delete: rule });
    const id = expectOk(await user(ada).post(notes, { title: 'mine', level: 9 })).id;
    expectOk(await user(ada).patch(`${notes}/${id}`, { title: 'ours' }));
    for (const who of [user(bob), user(eve)]) {
      expectError(await who.get(`${notes}/${id}`), 403, 'forbidden');
      expectError(await who.post(notes, { title: 'x' }), 403, 'forbidden');
      expectError(await who.patch(`${notes}/${id}`, { title: 'x' }), 403, 'forbidden');
      expectError(await who.delete(`${notes}/${id}`), 403, 'forbidden');
    }
    expect(expectOk(await user(ada).get(`${notes}/${id}`)).fields.title).toBe('ours');
    expectOk(await user(ada).delete(`${notes}/${id}`));
  });

  it('is refused when it names no field of an auth collection', async () => {
    for (
      const name of [
        `${profile}.size`,
        '@request.auth.profile.notes.level',
        `${profile}.plan.x`,
        `${profile}.password_hash`,
      ]
    ) {
      const body = { template: 'filter', filter: `${name} = 1` };
      expectError(
        await app.admin.put(`${app.collections}/notes/access_rules/list`, body),
        400,
        'unknown_column',
      );
    }
  });
});

describe('rule.caller: a filter of an end-user', () => {
  const plan = `&filter=${encodeURIComponent(`${profile}.plan = 'pro'`)}`;

  it('reads the profile as far as the end-user may get it', async () => {
    await app.setRules('notes', { list: 'auth' });
    await app.setRules('members', { get: 'admin' });
    expect(await listed(ada, plan)).toEqual([]);
    expect(await listed(ada, `&filter=${encodeURIComponent(`!(${profile}.plan = 'pro')`)}`)).toEqual([]);
    await app.setRules('members', { get: 'level > 3 && id = @request.auth.id' });
    expect(await listed(ada, plan)).toEqual(['of 1', 'of 3']);
    await app.setRules('members', { get: `${profile}.plan = 'pro'` });
    expect(await listed(ada, plan)).toEqual(['of 1', 'of 3']);
    expect(await listed(bob, `&filter=${encodeURIComponent(`${profile}.plan = 'free'`)}`)).toEqual([]);
    // A rule reads it all the same.
    await app.setRules('notes', { list: `${profile}.plan = 'free'` });
    expect(await listed(bob)).toEqual(['of 1', 'of 3']);
  });

  it('is empty for an admin, who has no profile', async () => {
    expect(titlesOf(await app.admin.get(`${notes}?${plan}`))).toEqual([]);
    const query = `?sort=level&filter=${
      encodeURIComponent(`${profile}.plan = null && @request.auth.verified = null`)
    }`;
    expect(titlesOf(await app.admin.get(notes + query))).toEqual(['of 1', 'of 3']);
  });
});
