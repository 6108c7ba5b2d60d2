// The rules of the example "tracker", and somebody who is a member of another project only: no way to reach a record shows, counts
// or hints at what is in a project that one is not a member of.
import { describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { upload } from '../../harness/file-app.ts';
import { tracker, trackerCollections } from '../../harness/tracker.ts';

const app = await tracker();
const { records, app: { path } } = app;
const [ada, bob, eve] = [await app.person('Ada'), await app.person('Bob'), await app.person('Eve')];
const apollo = await app.project(ada, 'Apollo');
const bobs = await app.join(ada, apollo, bob, 'member');
const invited = expectOk(
  await ada.post(records('invitations'), { project: apollo, email: 'zoe@example.com', role: 'guest' }),
);
const file = await upload(ada, app.app, 'launch codes', { name: 'codes.txt', type: 'text/plain' });
const secret = await app.issue(ada, apollo, 'launch codes', {
  body: 'zebra',
  labels: ['urgent'],
  attachments: [file.id],
});
const comment = expectOk(
  await ada.post(records('comments'), { issue: secret.id, author: ada.id, text: 'quokka' }),
);
const elsewhere = await app.project(eve, 'Elsewhere');
await app.issue(eve, elsewhere, 'own', { body: 'zebro' });
const foreign: Record<string, string> = {
  people: ada.id,
  projects: apollo,
  memberships: bobs,
  invitations: invited.id,
  issues: secret.id,
  comments: comment.id,
};

const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();
const list = async (collection: string, parameters: Record<string, string> = {}, caller = eve) =>
  expectOk(await caller.get(`${records(collection)}?${query(parameters)}`));
const titles = ({ items }: { items: { fields: { title: string } }[] }) =>
  items.map(({ fields }) => fields.title);

/** Nothing of the other project is in a response: no id, no text, no address. */
function expectNothing(response: Pick<ApiResponse, 'text'>): void {
  const secrets = [
    'Apollo',
    'launch',
    'zebra',
    'quokka',
    'codes',
    'zoe',
    ada.email,
    bob.email,
    ...Object.values(foreign),
  ];
  expect(secrets.filter((text) => response.text.includes(text))).toEqual([]);
}

describe('lists', () => {
  it.each(trackerCollections)("of %s have and count only what is one's own", async (collection) => {
    const response = await eve.get(`${records(collection)}?per_page=200`);
    expectNothing(response);
    const { items, total_items } = expectOk(response);
    expect(total_items).toBe(items.length);
    expect(total_items).toBe(['invitations', 'comments'].includes(collection) ? 0 : 1);
    expectError(await as().get(records(collection)), 401, 'unauthorized');
  });

  it.each([
    ['issues', "title ~ 'launch'"],
    ['issues', "project.name = 'Apollo'"],
    ['issues', `project.memberships_via_project.user = '${ada.id}'`],
    ['issues', "@collection.issues(body = 'zebra')"],
    ['issues', "@collection.comments.text = 'quokka'"],
    ['issues', "@collection.people(name = 'Ada')"],
    ['issues', "@collection.invitations.email = 'zoe@example.com'"],
    ['issues', "@collection.memberships(role = 'member')"],
    ['people', "issues_via_author.title = 'launch codes'"],
    ['people', "memberships_via_user(project.name = 'Apollo')"],
    ['projects', "@collection.projects(name = 'Apollo') || issues_via_project.body = 'zebra'"],
    ['memberships', `@collection.memberships.user = '${bob.id}'`],
  ])('of %s find nothing by %s, and everything by its negation', async (collection, filter) => {
    expect(await list(collection, { filter })).toMatchObject({ items: [], total_items: 0 });
    expect(await list(collection, { filter: `!(${filter})` })).toMatchObject({ total_items: 1 });
    expect((await list('issues', { filter: "@collection.issues(title = 'own')" })).total_items).toBe(1);
  });

  it.each(['title', '-title', '-number,project', 'created_at', '-updated_at'])(
    'sorted by %s are the same',
    async (sort) => {
      expect(titles(await list('issues', { sort }))).toEqual(['own']);
    },
  );

  it("go on from a cursor of somebody else with one's own records only", async () => {
    await app.issue(ada, apollo, 'second launch');
    const { next_cursor } = await list('issues', { per_page: '1' }, ada);
    const response = await eve.get(`${records('issues')}?${query({ cursor: next_cursor, per_page: '1' })}`);
    expectNothing(response);
    expect(titles(await list('issues'))).toEqual(['own']);
  });

  it("find no words of others, and no fewer of one's own for them", async () => {
    expect(titles(await list('issues', { search: 'quokka' }))).toEqual([]);
    expect(titles(await list('issues', { search: 'launch', sort: '-@rank' }))).toEqual([]);
    // "zebra" is no word of Eve's issues, so it is a typing error for her, whether somebody else has it or not.
    expect(await list('issues', { search: 'zebra', sort: '-@rank' })).toMatchObject({ total_items: 1 });
    expect(await list('issues', { search: 'zebri' })).toMatchObject({ total_items: 1 });
    expect(await list('issues', { search: 'laumch' })).toMatchObject({ total_items: 0 });
  });
});

describe('expanding', () => {
  it('shows no record that one may not get, forwards and backwards', async () => {
    const { id } = expectOk(
      await app.admin.post(records('issues'), {
        project: elsewhere,
        title: 'placed',
        author: ada.id,
        assignees: [ada.id, eve.id],
      }),
    );
    const expand =
      'author,assignees,author.issues_via_author,project.memberships_via_project.user,author.memberships_via_user.project';
    const response = await eve.get(`${records('issues')}/${id}?expand=${expand}`);
    expect(expectOk(response).expand).toMatchObject({
      author: null,
      assignees: [{ id: eve.id }],
      project: { expand: { memberships_via_project: [{ expand: { user: { id: eve.id } } }] } },
    });
    expect(response.text).not.toMatch(/launch|Apollo|zebra/);
    expectOk(await app.admin.delete(`${records('issues')}/${id}`));
  });
});

describe('aggregates', () => {
  it('compute nothing of other projects', async () => {
    const aggregate = async (collection: string, parameters: Record<string, string>) =>
      expectOk(await eve.get(`${records(collection)}/aggregate?${query(parameters)}`)).items;
    expect(await aggregate('issues', { fn: 'count,min(title),max(title),sum(number)' })).toEqual([
      { group: {}, count: 1, 'min(title)': 'own', 'max(title)': 'own', 'sum(number)': 1 },
    ]);
    expect(await aggregate('issues', { fn: 'count', group: 'project,status' })).toEqual([
      { group: { project: elsewhere, status: 'open' }, count: 1 },
    ]);
    expect(await aggregate('memberships', { fn: 'count', group: 'user' })).toEqual([{
      group: { user: eve.id },
      count: 1,
    }]);
    expect(await aggregate('comments', { fn: 'count', filter: `issue = '${secret.id}'` })).toEqual([{
      group: {},
      count: 0,
    }]);
    expectError(await as().get(`${records('issues')}/aggregate?fn=count`), 401, 'unauthorized');
  });
});

describe('a single record', () => {
  it.each(trackerCollections)('of %s is refused without a word about it', async (collection) => {
    // As documented, whoever has the id learns that there is a record (403), or none (404), and nothing else.
    const record = `${records(collection)}/${foreign[collection]}`;
    const responses = [
      await eve.get(`${record}?expand=${collection === 'people' ? 'memberships_via_user' : ''}`),
      await eve.patch(record, {}),
      await eve.delete(record),
    ];
    for (const response of responses) {
      expectError(response, 403, 'forbidden');
      expectNothing(response);
    }
  });

  it('is reached by no modifier, no upsert and no batch', async () => {
    const responses = [
      await eve.patch(`${records('issues')}/${secret.id}`, { 'labels+': ['bug'] }),
      await eve.post(`${records('memberships')}?on_conflict=project,user`, {
        project: apollo,
        user: bob.id,
        role: 'owner',
      }),
      await eve.post(`${records('invitations')}?on_conflict=project,email`, {
        project: apollo,
        email: 'zoe@example.com',
        role: 'owner',
      }),
      ...await Promise.all([
        { method: 'PATCH', collection: 'issues', id: secret.id, body: { title: 'x' } },
        { method: 'DELETE', collection: 'comments', id: comment.id },
        { method: 'POST', collection: 'comments', body: { issue: secret.id, author: eve.id, text: 'hi' } },
      ].map((request) => eve.post(`${path}/batch`, { requests: [request] }))),
    ];
    for (const response of responses) {
      expect([400, 403]).toContain(response.status);
      expect(response.text).not.toMatch(/launch|zebra|quokka|Apollo/);
    }
    expect((await list('issues', { filter: `id = '${secret.id}'` }, ada)).items[0].fields.labels).toEqual([
      'urgent',
    ]);
  });

  it('is pointed to by nobody who may not get it, as if it did not exist', async () => {
    const missing = crypto.randomUUID();
    const attempts = (id: string) =>
      [
        ['comments', { issue: id, author: eve.id, text: 'hi' }],
        ['issues', { project: id, title: 'x', author: eve.id }],
        ['issues', { project: elsewhere, title: 'x', author: eve.id, assignees: [id] }],
        ['issues', { project: elsewhere, title: 'x', author: eve.id, attachments: [id] }],
        ['memberships', { project: id, user: eve.id, role: 'owner' }],
        ['memberships', { project: elsewhere, user: id, role: 'owner' }],
        ['invitations', { project: id, email: 'x@example.com', role: 'owner' }],
      ] as const;
    const ids = [secret.id, apollo, ada.id, file.id, apollo, ada.id, apollo];
    for (const [at, id] of ids.entries()) {
      const [real, none] = [attempts(id)[at], attempts(missing)[at]];
      if (real === undefined || none === undefined) throw new Error('there is an attempt for each');
      const [refused, unknown] = [
        await eve.post(records(real[0]), real[1]),
        await eve.post(records(none[0]), none[1]),
      ];
      expectError(refused, 400, 'validation');
      expect(refused.text).toBe(unknown.text);
    }
  });
});
