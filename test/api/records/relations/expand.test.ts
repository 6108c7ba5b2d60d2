// Records together with those that they point to.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { type EndUser, type Scenario, scenario } from '../../../harness/scenario.ts';

const anyone = as();
let app: Scenario;
let admin: Caller;
let ada: EndUser;
let companies: string;
let authors: string;
let posts: string;

interface Made {
  id: string;
  fields: Record<string, unknown>;
}

const name = { name: 'name', kind: 'text' };
const open = { list: 'any', get: 'any' };

function relation(name: string, target: string): Record<string, unknown> {
  return { name, kind: 'relation', target };
}

async function create(records: string, values: Record<string, unknown> = {}): Promise<Made> {
  return expectOk(await admin.post(records, values));
}

beforeAll(async () => {
  app = await scenario();
  ({ admin } = app);
  ada = await app.user();
  companies = await app.define('companies', [name, relation('parent', 'companies'), {
    name: 'secret',
    kind: 'bool',
  }], {
    list: 'any',
    get: 'secret = false',
  });
  authors = await app.define('authors', [name, relation('company', 'companies')], open);
  posts = await app.define('posts', [
    name,
    relation('author', 'authors'),
    relation('editor', 'authors'),
    relation('owner', 'users'),
  ], open);
});

describe('expand', () => {
  it('adds the record of a relation, and null where there is none', async () => {
    const author = await create(authors, { name: 'Ada' });
    const post = await create(posts, { name: 'One', author: author.id });
    const found = expectOk(await admin.get(`${posts}/${post.id}?expand=author,editor`));
    expect(found).toEqual({ ...post, expand: { author, editor: null } });
    expect(expectOk(await admin.get(`${posts}/${post.id}?expand=`))).toEqual(post);
  });

  it('goes on from there, three relations in a row', async () => {
    const parent = await create(companies, { name: 'Parent' });
    const company = await create(companies, { name: 'Company', parent: parent.id });
    const author = await create(authors, { company: company.id });
    const post = await create(posts, { author: author.id, editor: author.id });
    const path = `${posts}/${post.id}?expand=author.company.parent, editor`;
    expect(expectOk(await admin.get(path))).toEqual({
      ...post,
      expand: {
        author: { ...author, expand: { company: { ...company, expand: { parent } } } },
        editor: author,
      },
    });
  });

  it('does so for every record of a list, beside a selection of fields', async () => {
    const list = await app.define('listed', [name, relation('author', 'authors')], open);
    const [one, two] = [await create(authors, { name: 'One' }), await create(authors, { name: 'Two' })];
    await create(list, { name: 'a', author: one.id });
    await create(list, { name: 'b', author: two.id });
    await create(list, { name: 'c', author: one.id });
    await create(list, { name: 'd' });
    const { items } = expectOk(await admin.get(`${list}?sort=name&fields=name&expand=author`));
    expect(items.map(({ fields, expand }: Made & { expand: unknown }) => [fields, expand])).toEqual([
      [{ name: 'a' }, { author: one }],
      [{ name: 'b' }, { author: two }],
      [{ name: 'c' }, { author: one }],
      [{ name: 'd' }, { author: null }],
    ]);
  });

  it('follows a record to itself no further than it is asked to', async () => {
    const company = await create(companies, { name: 'Ring' });
    const ring = expectOk(await admin.patch(`${companies}/${company.id}`, { parent: company.id }));
    expect(expectOk(await admin.get(`${companies}/${company.id}?expand=parent.parent`)).expand)
      .toEqual({ parent: { ...ring, expand: { parent: ring } } });
  });

  it('rule.relation-target: shows no record that the caller could not read by itself', async () => {
    const open = await create(companies, { name: 'Open', secret: false });
    const secret = await create(companies, { name: 'Secret', secret: true, parent: open.id });
    const [seen, hidden] = [
      await create(authors, { company: open.id }),
      await create(authors, { company: secret.id }),
    ];
    const list = await app.define('shown', [name, relation('author', 'authors')], {
      list: 'any',
      get: 'any',
    });
    await create(list, { name: 'a', author: seen.id });
    const post = await create(list, { name: 'b', author: hidden.id });
    const path = '?sort=name&expand=author.company.parent';
    const companiesOf = async (caller: Caller) =>
      expectOk(await caller.get(list + path)).items.map(
        // deno-lint-ignore no-explicit-any
        ({ expand }: any) => expand.author.expand.company?.fields.name ?? null,
      );
    expect(await companiesOf(admin)).toEqual(['Open', 'Secret']);
    for (const caller of [ada, anyone]) {
      expect(await companiesOf(caller)).toEqual(['Open', null]);
      const one = await caller.get(`${list}/${post.id}${path.replace('sort=name&', '')}`);
      expect(one.text).not.toContain('Secret');
      expect(expectOk(one).expand.author.expand).toEqual({ company: null });
    }
  });

  it('shows a user to admins and to itself, without anything secret', async () => {
    const post = await create(posts, { owner: ada.id });
    const path = `${posts}/${post.id}?expand=owner`;
    const { owner } = expectOk(await admin.get(path)).expand;
    expect(owner).toEqual({
      id: ada.id,
      collection: 'users',
      fields: {
        email: expect.stringContaining('@'),
        verified: expect.any(Boolean),
        has_password: expect.any(Boolean),
        totp_enabled: false,
        oauth_providers: [],
        last_login: owner.fields.last_login,
      },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(expectOk(await ada.get(path)).expand.owner.id).toBe(ada.id);
    expect(expectOk(await (await app.user()).get(path)).expand).toEqual({ owner: null });
    expect(expectOk(await anyone.get(path)).expand).toEqual({ owner: null });
  });

  it.each([
    ['nothing', '"posts" has no relation "nothing"'],
    ['name', '"posts" has no relation "name"'],
    ['id', '"posts" has no relation "id"'],
    ['constructor', '"posts" has no relation "constructor"'],
    ['author.nothing', '"authors" has no relation "nothing"'],
    ['owner.sessions', '"users" has no relation "sessions"'],
    ['author,', '"posts" has no relation ""'],
    ['author..company', '"authors" has no relation ""'],
  ])('refuses %j', async (expand, message) => {
    const { id } = await create(posts);
    for (const path of [posts, `${posts}/${id}`]) {
      const refused = await admin.get(`${path}?expand=${expand}`);
      expectError(refused, 400, 'unknown_column');
      expect(refused.body.message).toBe(`expand: ${message}`);
    }
  });

  it('refuses more than three relations in a row, and more than twenty in all', async () => {
    const deep = await admin.get(`${companies}?expand=parent.parent.parent.parent`);
    expectError(deep, 400, 'validation');
    expect(deep.body.message).toBe('expand: at most 3 relations in a row can be followed');
    const fields = Array.from({ length: 21 }, (_, n) => relation(`r${n}`, 'authors'));
    const wide = await app.define('wide', fields, open);
    const names = fields.map(({ name }) => name);
    expectOk(await admin.get(`${wide}?expand=${names.slice(1).join()},r1,r2`));
    const refused = await admin.get(`${wide}?expand=${names.join()}`);
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toBe('expand: at most 20 relations can be followed');
  });
  it('refuses to repeat a large record more often than a response can hold', async () => {
    const author = await create(authors, { name: 'x'.repeat(1_048_576) });
    const list = await app.define('many', [relation('author', 'authors'), relation('post', 'many')], open);
    const batch = app.collections.replace(/collections$/, 'batch');
    const write = { method: 'POST', collection: 'many', body: { author: author.id } };
    const { results } = expectOk(await admin.post(batch, { requests: Array(40).fill(write) }));
    expect(expectOk(await admin.get(`${list}?per_page=40&expand=author`)).items).toHaveLength(40);
    const wide = results.map(({ body }: { body: Made }) => ({
      method: 'PATCH',
      collection: 'many',
      id: body.id,
      body: { post: results[0].body.id },
    }));
    expectOk(await admin.post(batch, { requests: wide }));
    for (const expand of ['author,post.author', 'post.author,post.post.author']) {
      const refused = await admin.get(`${list}?per_page=40&expand=${expand}`);
      expectError(refused, 400, 'validation');
      expect(refused.body.message).toContain('too large for one response');
    }
  });
});
