// Records together with those that point to them: `expand=comments_via_issue`.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { type EndUser, owner, type Scenario, scenario, title } from '../../../harness/scenario.ts';
import { relationTo } from '../../../harness/watched.ts';

let app: Scenario;
let [ada, bob]: EndUser[] = [];
let projects: string;
let issues: string;
let comments: string;

interface Shown {
  id: string;
  fields: { title: string };
  expand?: Record<string, Shown[]>;
}

beforeAll(async () => {
  app = await scenario();
  [ada, bob] = [await app.user(), await app.user()];
  projects = await app.define('projects', [title], { list: 'any', get: 'any' });
  const project = relationTo('projects', 'project');
  issues = await app.define('issues', [title, project, owner], {
    list: 'auth',
    get: 'owner = @request.auth.id',
  });
  const issue = relationTo('issues', 'issue', { cascade_delete: true });
  comments = await app.define('comments', [title, issue, owner], { get: 'auth' });
});

function user(one: EndUser | undefined): EndUser {
  if (one === undefined) throw new Error('no user');
  return one;
}

async function shown(caller: Caller, id: string, expand: string, records = projects): Promise<Shown> {
  return expectOk(await caller.get(`${records}/${id}?expand=${expand}`));
}

/** Titles as they are nested. */
function titlesIn(found: Shown, ...[name = '', ...names]: string[]): unknown[] {
  return (found.expand?.[name] ?? []).map((one) =>
    names.length === 0 ? one.fields.title : [one.fields.title, titlesIn(one, ...names)]
  );
}

/** Adds records with titles from 1; to each record of `from`, where it is given. */
async function fill(
  collection: string,
  count: number,
  { from, column, value }: { from?: string; column?: string; value?: string } = {},
): Promise<void> {
  await app.inDatabase(async (sql) => {
    const [own] = await sql<{ schema: string }[]>`select schema from workspace.apps`;
    const table = (name: string) => `"${own?.schema}"."${name}"`;
    await sql.unsafe(`set role "${own?.schema}"`);
    await sql.unsafe(
      `insert into ${table(collection)} (id, title, created_at, updated_at${column ? `, ${column}` : ''})
      select gen_random_uuid(), n, now() + n * interval '1 ms', now()${value ? `, ${value}` : ''}
      from generate_series(1, ${count}) as n${from ? `, ${table(from)} as holder` : ''}`,
    );
  });
}

describe('expand backwards', () => {
  it('adds the records that point to it, the oldest first, and an empty list where there are none', async () => {
    const [apollo, gemini] = [await app.make(projects, {}), await app.make(projects, {})];
    for (const name of ['c', 'a', 'b']) await app.make(issues, { title: name, project: apollo });
    await app.make(issues, { title: 'other' });
    const list = expectOk(await app.admin.get(`${projects}?expand=issues_via_project`));
    const of = (id: string) => titlesIn(list.items.find((one: Shown) => one.id === id), 'issues_via_project');
    expect([of(apollo), of(gemini)]).toEqual([['c', 'a', 'b'], []]);
    expect(titlesIn(await shown(app.admin, apollo, 'issues_via_project'), 'issues_via_project')).toEqual([
      'c',
      'a',
      'b',
    ]);
  });

  it('goes on from there, backwards and forwards, three relations in a row', async () => {
    const project = await app.make(projects, { title: 'p' });
    const issue = await app.make(issues, { title: 'i', project });
    for (const name of ['x', 'y']) await app.make(comments, { title: name, issue });
    const path = ['issues_via_project', 'comments_via_issue'];
    const found = await shown(app.admin, project, `${path.join('.')},issues_via_project.project`);
    expect(titlesIn(found, ...path)).toEqual([['i', ['x', 'y']]]);
    expect(found.expand?.['issues_via_project']?.[0]?.expand?.['project']).toMatchObject({ id: project });
    const comment = await app.make(comments, { title: 'z', issue });
    const around = expectOk(
      await app.admin.get(`${comments}/${comment}?expand=issue.project.issues_via_project`),
    );
    expect(titlesIn(around.expand.issue.expand.project, 'issues_via_project')).toEqual(['i']);
  });

  it('leads from users, for admins and the user itself', async () => {
    await app.make(issues, { title: 'hers', owner: user(ada).id });
    const path = `${app.collections}/users/records/${user(ada).id}?expand=issues_via_owner`;
    expect(titlesIn(expectOk(await app.admin.get(path)), 'issues_via_owner')).toEqual(['hers']);
    expectError(await user(ada).get(path), 403, 'forbidden');
  });

  it('rule.relation-target: shows no record that the caller could not read by itself, and nothing of how many there are', async () => {
    const project = await app.make(projects, {});
    const empty = await app.make(projects, {});
    for (const [name, who] of [['hers', ada], ['his', bob]] as const) {
      const issue = await app.make(issues, { title: name, project, owner: user(who).id });
      await app.make(comments, { title: `on ${name}`, issue });
    }
    const path = ['issues_via_project', 'comments_via_issue'];
    const seen = async (caller: Caller, id: string) => {
      const response = await caller.get(`${projects}/${id}?expand=${path.join('.')}`);
      return { titles: titlesIn(expectOk(response), ...path), length: response.text.length };
    };
    expect((await seen(user(ada), project)).titles).toEqual([['hers', ['on hers']]]);
    expect((await seen(user(bob), project)).titles).toEqual([['his', ['on his']]]);
    const stranger = await seen(await app.user(), project);
    expect(stranger).toEqual(await seen(await app.user(), empty));
    expect(await seen(as(), project)).toEqual(await seen(as(), empty));
    await app.setRules('comments', { get: 'admin' });
    expect((await seen(user(ada), project)).titles).toEqual([['hers', []]]);
    await app.setRules('comments', { get: 'auth' });
  });

  it('counts hidden records for nothing: the hundred are those that the caller may read', async () => {
    const project = await app.make(projects, {});
    await fill('issues', 150, {
      column: 'project, owner',
      value: `'${project}'::uuid, '${user(bob).id}'::uuid`,
    });
    await fill('issues', 120, {
      column: 'project, owner',
      value: `'${project}'::uuid, '${user(ada).id}'::uuid`,
    });
    const found = titlesIn(await shown(user(ada), project, 'issues_via_project'), 'issues_via_project');
    expect(found).toEqual(Array.from({ length: 100 }, (_, n) => `${n + 1}`));
  });

  it('refuses more than 20,000 records in one response', async () => {
    const lists = await app.define('lists', [title], { list: 'any', get: 'any' });
    await app.define('entries', [title, relationTo('lists', 'list')], { get: 'any' });
    await fill('lists', 200);
    await fill('entries', 100, { from: 'lists', column: 'list', value: 'holder.id' });
    const path = `${lists}?per_page=200&expand=entries_via_list`;
    expect(expectOk(await as().get(path)).items).toHaveLength(200);
    const refused = await as().get(`${lists}?per_page=200&expand=entries_via_list.list.entries_via_list`);
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toContain('too large for one response');
  });

  it.each([
    ['issues_via_nothing', '"projects" has no relation "issues_via_nothing"'],
    ['issues_via_owner', '"projects" has no relation "issues_via_owner"'],
    ['nothing_via_project', '"projects" has no relation "nothing_via_project"'],
    ['issues_via_project.comments_via_project', '"issues" has no relation "comments_via_project"'],
    ['_via_', '"projects" has no relation "_via_"'],
  ])('refuses %j', async (expand, message) => {
    const refused = await app.admin.get(`${projects}?expand=${expand}`);
    expectError(refused, 400, 'unknown_column');
    expect(refused.body.message).toBe(`expand: ${message}`);
  });
});
