// Aggregates under rules: nobody learns from a number what the list rule hides.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk } from '../../harness/api.ts';
import { type EndUser, owner, type Scenario, scenario } from '../../harness/scenario.ts';

let made: Scenario;
let admin: Caller;

beforeAll(async () => {
  made = await scenario();
  ({ admin } = made);
});

const ask = (query: string, caller: Caller, records: string) => caller.get(`${records}/aggregate?${query}`);
const itemsOf = async (query: string, caller: Caller, records: string) =>
  expectOk(await ask(query, caller, records)).items;

describe('what the list rule hides', () => {
  let tasks: string;
  let [ada, bob]: EndUser[] = [];

  beforeAll(async () => {
    await made.define('secrets', [{ name: 'word', kind: 'text' }], { get: 'admin', list: 'any' });
    const fields = [owner, { name: 'n', kind: 'number' }, {
      name: 'secret',
      kind: 'relation',
      target: 'secrets',
    }];
    tasks = await made.define('tasks', fields, { list: 'owner = @request.auth.id' });
    [ada, bob] = [await made.user(), await made.user()];
    const secret = await made.make(made.records('secrets'), { word: 'sesame' });
    for (const n of [1, 2]) await made.make(tasks, { owner: ada.id, n, secret });
  });

  const all = 'fn=count,sum(n),avg(n),min(n),max(n),max(updated_at)';
  const of = (caller: Caller | undefined, query = all, records = tasks) =>
    (caller ?? as()).get(`${records}/aggregate?${query.replaceAll('+', '%2B')}`)
      .then(({ status, body }): Pick<ApiResponse, 'status' | 'body'> => ({ status, body }));

  it('never changes a number, a group, or the number of groups', async () => {
    const queries = [all, `${all}&group=owner`, 'fn=count&group=n,id', `fn=max(n)&filter=n>1||n>=100`];
    const before = await Promise.all(queries.map((query) => of(ada, query)));
    expect(before[0]?.body.items[0]).toMatchObject({ count: 2, 'sum(n)': 3, 'max(n)': 2 });
    for (let n = 0; n < 3; n++) await made.make(tasks, { owner: bob?.id, n: 100 + n });
    expect(await Promise.all(queries.map((query) => of(ada, query)))).toEqual(before);
    expect((await of(bob, 'fn=count,min(n)&group=owner')).body).toEqual({
      items: [{ group: { owner: bob?.id }, count: 3, 'min(n)': 100 }],
    });
    expect((await of(await made.user())).body.items[0]).toMatchObject({ count: 0, 'max(n)': null });
    expect((await of(admin)).body.items[0]).toMatchObject({ count: 5 });
  });

  it('cannot be counted through a relation to records that the caller may not get', async () => {
    const query = `fn=count&filter=${encodeURIComponent("secret.word = 'sesame'")}`;
    expect((await of(ada, query)).body.items).toEqual([{ group: {}, count: 0 }]);
    expect((await of(admin, query)).body.items).toEqual([{ group: {}, count: 2 }]);
  });

  it('is refused as a list of it is', async () => {
    await made.setRules('tasks', { list: 'admin', get: 'any' });
    expect(await of(ada)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await of(undefined)).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    // Also when something else is wrong.
    expect(await of(ada, 'fn=nope')).toMatchObject({ status: 403 });
    expect(await of(ada, all, tasks.replace('tasks', 'nope'))).toMatchObject({ status: 404 });
    await made.setRules('tasks', { list: "@request.query.fn = 'count'" });
    expect(await of(undefined, 'fn=count')).toMatchObject({ status: 200, body: { items: [{ count: 5 }] } });
    expect(await of(undefined, 'fn=max(n)')).toMatchObject({ status: 401 });
  });
});

it('profiles and users are aggregated by what lists of them show', async () => {
  expectOk(
    await admin.post(made.collections, {
      schema: { id: 'members', kind: 'auth', fields: [{ name: 'points', kind: 'number' }] },
    }),
  );
  const members = made.records('members');
  const [one, two] = [await made.user(), await made.user()];
  for (const [{ email }, points] of [[one, 3], [two, 4]] as const) {
    await made.make(members, { email, points });
  }
  await made.inDatabase((sql) =>
    sql`update workspace.users set verified = true, last_login = '2026-01-01T00:00:00.0009Z' where id = ${one.id}`
  );
  expect(await itemsOf('fn=count,max(email),sum(points)&group=verified,last_login', admin, members)).toEqual([
    { group: { verified: false, last_login: null }, count: 1, 'max(email)': two.email, 'sum(points)': 4 },
    {
      group: { verified: true, last_login: '2026-01-01T00:00:00.001Z' },
      count: 1,
      'max(email)': one.email,
      'sum(points)': 3,
    },
  ]);
  for (const query of ['fn=max(password_hash)', 'fn=count&group=password_hash', 'fn=max(totp_enabled)']) {
    expect((await ask(query, admin, members)).body.code, query).toBe('unknown_column');
  }
  expect((await ask('fn=count&group=oauth_providers', admin, members)).body.code).toBe('validation');
  const users = made.records('users');
  expect(await itemsOf(`fn=count,max(last_login)&group=verified&filter=verified=true`, admin, users)).toEqual(
    [
      { group: { verified: true }, count: 1, 'max(last_login)': '2026-01-01T00:00:00.001Z' },
    ],
  );
  expect(await ask('fn=count', one, users)).toMatchObject({ status: 403 });
});
