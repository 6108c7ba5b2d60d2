// Views: what they show and to whom, that nobody writes through them, and that they follow the collections which they read.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../../../harness/api.ts';
import { type EndUser, owner, type Scenario, scenario, title, titlesOf } from '../../../harness/scenario.ts';

let own: Scenario;
let alice: EndUser;
let bob: EndUser;

const project = { name: 'project', kind: 'relation', target: 'projects', cascade_delete: true };
const state = { name: 'state', kind: 'select', options: ['open', 'done'] };
const issueFields = [title, project, owner, state, { name: 'hours', kind: 'number' }];

const perProject = `select project as id, project, count(*) as issues, sum(hours) as hours,
  max(updated_at) as updated_at from issues group by project`;

beforeAll(async () => {
  own = await scenario({ collections: { projects: [title, owner], issues: issueFields } });
  [alice, bob] = [await own.user(), await own.user()];
  const first = await own.make(own.records('projects'), { title: 'first', owner: alice.id });
  const second = await own.make(own.records('projects'), { title: 'second', owner: bob.id });
  for (
    const [name, project, user, hours] of [
      ['a', first, alice.id, 1],
      ['b', first, alice.id, 2.5],
      ['c', second, bob.id, 4],
    ]
  ) {
    await own.make(own.records('issues'), { title: name, project, owner: user, state: 'open', hours });
  }
});

async function view(id: string, query: string, rules = {}): Promise<string> {
  expectOk(await own.admin.post(own.collections, { schema: { id, kind: 'view', query } }));
  await own.setRules(id, rules);
  return own.records(id);
}

describe('a view', () => {
  it('shows the rows of its query as records, its columns as fields of their kinds', async () => {
    const query = 'select id, title, project, owner, state, hours, hours * 2 as twice, hours > 2 as long, ' +
      "lower(title) || '!' as shout, json_build_array(title) as list, created_at as begun, created_at from issues";
    const made = await own.admin.post(own.collections, { schema: { id: 'shown', kind: 'view', query } });
    expect(made.status).toBe(201);
    const { cascade_delete: _, ...projectShown } = project;
    expect(made.body.schema).toEqual({
      ...{ id: 'shown', kind: 'view', query },
      fields: [
        ...[title, projectShown, owner, state, { name: 'hours', kind: 'number' }],
        ...[{ name: 'twice', kind: 'number' }, { name: 'long', kind: 'bool' }, {
          name: 'shout',
          kind: 'text',
        }],
        ...[{ name: 'list', kind: 'json' }, { name: 'begun', kind: 'datetime' }],
      ],
    });
    expect((await own.admin.get(`${own.collections}/shown`)).body).toEqual(made.body);
    const list = await own.admin.get(`${own.records('shown')}?sort=title&expand=project`);
    expect(titlesOf(list)).toEqual(['a', 'b', 'c']);
    const [record] = list.body.items;
    const [issue] = expectOk(await own.admin.get(`${own.records('issues')}?sort=title`)).items;
    expect(record).toMatchObject({
      ...{ id: issue.id, collection: 'shown', created_at: issue.created_at },
      updated_at: '1970-01-01T00:00:00.000Z',
      fields: { ...issue.fields, twice: 2, long: false, shout: 'a!', list: ['a'], begun: issue.created_at },
      expand: { project: { fields: { title: 'first' } } },
    });
    expect((await own.admin.get(`${own.records('shown')}/${issue.id}`)).body.fields).toEqual(record.fields);
  });

  it('groups, and is filtered, sorted, paged, aggregated and exported like any collection', async () => {
    const records = await view('per_project', perProject);
    const list = expectOk(await own.admin.get(`${records}?sort=-issues&expand=project`));
    expect(list.items.map(({ fields }: { fields: object }) => fields)).toEqual([
      { project: list.items[0].id, issues: 2, hours: 3.5 },
      { project: list.items[1].id, issues: 1, hours: 4 },
    ]);
    expect(list).toMatchObject({ total_items: 2, next_cursor: null });
    const only = (filter: string) => own.admin.get(`${records}?filter=${encodeURIComponent(filter)}`);
    expect((await only('issues > 1')).body.total_items).toBe(1);
    expect((await only("project.title = 'second'")).body.items[0].fields.hours).toBe(4);
    const page = expectOk(await own.admin.get(`${records}?sort=-hours&per_page=1`));
    const next = expectOk(
      await own.admin.get(`${records}?sort=-hours&per_page=1&cursor=${page.next_cursor}`),
    );
    expect([page, next].map(({ items }) => items[0].fields.hours)).toEqual([4, 3.5]);
    const sums = expectOk(await own.admin.get(`${records}/aggregate?fn=sum(hours),count`));
    expect(sums.items).toEqual([{ group: {}, 'sum(hours)': 7.5, count: 2 }]);
    const lines = (await own.admin.get(`${records}/export?format=csv`)).text.trim().split('\n');
    expect(lines).toHaveLength(3);
  });

  it('shows every write at once', async () => {
    const records = await view(
      'counted',
      'select project as id, count(*) as issues from issues group by project',
    );
    const count = async () => (await own.admin.get(`${records}?sort=-issues`)).body.items[0];
    const before = await count();
    const read = async () => (await own.admin.get(`${records}/${before.id}`)).body.fields.issues;
    for (let reads = 0; reads < 3; reads++) expect(await read()).toBe(before.fields.issues);
    const values = { title: 'new', project: before.id };
    const made = await own.make(own.records('issues'), values);
    expect(await read()).toBe(before.fields.issues + 1);
    expect((await count()).fields.issues).toBe(before.fields.issues + 1);
    expectOk(await own.admin.delete(`${own.records('issues')}/${made}`));
    expect(await read()).toBe(before.fields.issues);
  });

  it('reads other views, fields of many, and names that have to be quoted', async () => {
    await own.define('Order', [title, { name: 'tags', kind: 'select', options: ['x', 'y'], many: true }]);
    await own.make(own.records('Order'), { title: 'o', tags: ['y', 'x'] });
    await view('orders', 'select id, title, tags from "Order"');
    const records = await view(
      'named',
      'select o.id, o.title, o.tags, array_length(tags, 1) as n from orders as o',
    );
    const { schema } = (await own.admin.get(`${own.collections}/named`)).body;
    expect(schema.fields[1]).toEqual({ name: 'tags', kind: 'select', options: ['x', 'y'], many: true });
    expect((await own.admin.get(records)).body.items[0].fields).toEqual({
      title: 'o',
      tags: ['y', 'x'],
      n: 2,
    });
  });

  it('admits admins alone until rules say otherwise, and these narrow all that it shows', async () => {
    const query = 'select id, title, owner, hours, project from issues';
    const records = await view('mine', query);
    const [issue] = expectOk(await own.admin.get(`${own.records('issues')}?sort=title`)).items;
    expect((await as().get(records)).status).toBe(401);
    for (
      const path of [records, `${records}/${issue.id}`, `${records}/aggregate?fn=count`, `${records}/export`]
    ) {
      expect((await alice.get(path)).status, path).toBe(403);
    }
    await own.setRules('mine', { list: 'owner = @request.auth.id', get: 'owner = @request.auth.id' });
    expect(titlesOf(await alice.get(`${records}?sort=title`))).toEqual(['a', 'b']);
    expect(titlesOf(await bob.get(`${records}?sort=-hours`))).toEqual(['c']);
    expect((await alice.get(`${records}/${issue.id}`)).status).toBe(200);
    const refused = await bob.get(`${records}/${issue.id}`);
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain('"title"');
    const filtered = await bob.get(`${records}?filter=${encodeURIComponent("title = 'a' || hours < 3")}`);
    expect(filtered.body).toMatchObject({ items: [], total_items: 0 });
    // What a relation leads to is read under the rule of its own collection.
    expect((await bob.get(`${records}?expand=project`)).body.items[0].expand.project).toBeNull();
    expect((await bob.get(`${records}?filter=${encodeURIComponent("project.title = 'second'")}`)).body.items)
      .toEqual([]);
    expect((await bob.get(`${records}/aggregate?fn=count,sum(hours)`)).body.items)
      .toEqual([{ group: {}, count: 1, 'sum(hours)': 4 }]);
    expect((await bob.get(`${records}/export`)).text.trim().split('\n')).toHaveLength(1);
    expect((await bob.get(`${records}?search=a`)).status).toBe(400);
  });

  it('cannot be written by anybody, nor have rules of writes, nor a stream', async () => {
    const records = await view('read_only', 'select id, title from issues');
    const [issue] = expectOk(await own.admin.get(records)).items;
    const requests = [{ method: 'POST', collection: 'read_only', body: { title: 'x' } }];
    for (
      const response of [
        await own.admin.post(records, { title: 'x' }),
        await own.admin.post(`${records}?on_conflict=title`, { title: 'x' }),
        await own.admin.patch(`${records}/${issue.id}`, { title: 'x' }),
        await own.admin.delete(`${records}/${issue.id}`),
        await own.admin.post(`${own.app.path}/batch`, { requests }),
        await own.admin.post(`${records}/import`, '{"title":"x"}', {
          'Content-Type': 'application/x-ndjson',
        }),
        await own.admin.put(`${own.collections}/read_only/access_rules/create`, { template: 'any' }),
        await own.admin.get(`${own.collections}/read_only/events`),
      ]
    ) {
      expect(response.status, response.text).toBe(400);
      expect(response.body.message).toMatch(/view|unique/);
    }
    expect((await bob.patch(`${records}/${issue.id}`, { title: 'x' })).status).toBe(403);
    expect((await own.admin.get(`${own.records('issues')}/${issue.id}`)).body.fields).toEqual(
      expect.objectContaining(issue.fields),
    );
  });

  it('leads nowhere from other collections: no relation, no path, no @collection', async () => {
    await view('aside', 'select id, project, title from issues');
    const field = { name: 'to', kind: 'relation', target: 'aside' };
    expect(
      (await own.admin.post(own.collections, { schema: { id: 'pointing', fields: [field] } })).body.message,
    )
      .toContain('"aside" is a view');
    for (const filter of ["aside_via_project(title = 'a')", "@collection.aside(title = 'a')"]) {
      const list = await own.admin.get(`${own.records('projects')}?filter=${encodeURIComponent(filter)}`);
      expect(list, filter).toMatchObject({ status: 400, body: { code: 'unknown_column' } });
    }
    expect((await own.admin.get(`${own.records('projects')}?expand=aside_via_project`)).status).toBe(400);
  });

  it('opens no file that the caller may not read without it', async () => {
    const files = await own.define('papers', [title, { name: 'scan', kind: 'file' }]);
    const upload = await own.admin.post(`${own.app.path}/files`, 'bytes', { 'Content-Type': 'text/plain' });
    const scan = expectOk(upload).id;
    await own.make(files, { title: 'p', scan });
    const records = await view('scans', 'select id, scan from papers', { list: 'any', get: 'any' });
    const shown = async () => (await alice.get(`${records}?expand=scan`)).body.items[0];
    expect(await shown()).toMatchObject({ fields: { scan }, expand: { scan: null } });
    expect((await alice.get(`${own.app.path}/files/${scan}`)).status).toBeGreaterThanOrEqual(400);
    await own.setRules('papers', { get: 'any' });
    expect((await shown()).expand.scan).toMatchObject({ id: scan });
  });

  it('says what fails when its query cannot be computed, without the values', async () => {
    const records = await view(
      'ratio',
      'select id, hours / (hours - 4) as ratio, title::text::int8 as n from issues',
    );
    const list = await own.admin.get(records);
    expect(list).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(list.body.message).toMatch(/the view "ratio" fails for the present records: a (?:text|number)/);
  });

  it('shows null where a field has no such value', async () => {
    const query =
      "select id, 'infinity'::timestamptz as never, '-infinity'::date as ever, 'NaN'::float8 as nan, " +
      "'Infinity'::numeric as much, hours, make_date(20000, 1, 1) as late, 'infinity'::timestamptz as created_at from issues";
    const records = await view('endless_values', query);
    const list = expectOk(await own.admin.get(`${records}?sort=-never,much`));
    expect(list.items[0]).toMatchObject({
      fields: { never: null, ever: null, nan: null, much: null, late: null, hours: expect.anything() },
      created_at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('ends by the time-out of statements', async () => {
    const bound = { kind: 'range', min: 100, max: 100 };
    const level = `/api/workspaces/${own.workspace.id}/policies/database.statement_timeout_ms`;
    expectOk(await own.workspace.admin.put(level, bound));
    const query =
      'with recursive n as (select 1 as i union all select i + 1 from n) select id, i from n, issues';
    const records = await view('endless', query);
    const list = await own.admin.get(records);
    expect(list.status, list.text).toBe(503);
    expectOk(await own.workspace.admin.delete(level));
    expectOk(await own.admin.delete(`${own.collections}/endless`));
  });
});
