// What hooks may do with `$app`, over HTTP.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { scenario } from '../../harness/scenario.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let app: OwnApp;

beforeAll(async () => {
  const posts = [
    { name: 'title', kind: 'text', required: true },
    { name: 'state', kind: 'select', options: ['a', 'b'] },
  ];
  ({ workspace: own, app } = await scenario({ collections: { posts } }));
});

/** Deploys a route that returns what the code returns, and requests it. */
async function run(code: string): Promise<{ value: unknown; error: { code: string; message: string } }> {
  const source = `routerAdd('POST', '/run', async (e) => {
    try { return { value: await (async () => { ${code} })() ?? null }; }
    catch (error) { return { error: { code: error.code, message: error.message } }; }
  });`;
  expect(expectOk(await app.admin.put(`${app.path}/hooks/run.ts`, { source })).reload.errors).toEqual([]);
  return expectOk(await as().post(`${app.path}/custom/run`, {}));
}

describe('$app', () => {
  it('creates, finds, lists, changes and deletes records with the rights of an admin', async () => {
    const { value } = await run(`
      const { id } = await $app.records.create('posts', { title: 'one' });
      const changed = await $app.records.update('posts', id, { title: 'two', state: 'a' });
      const list = await $app.records.list('posts', { filter: "state = 'a'", sort: '-created_at', per_page: 5 });
      const found = await $app.records.findOne('posts', id);
      await $app.records.delete('posts', id);
      return [changed.fields, list.total_items, list.per_page, found.fields.title, await $app.records.findOne('posts', id)];`);
    expect(value).toEqual([{ title: 'two', state: 'a' }, 1, 5, 'two', null]);
  });

  it('lists related records, some of the fields, or without counting', async () => {
    const define = (id: string, fields: unknown[]) =>
      app.admin.post(`${app.path}/collections`, { schema: { id, kind: 'base', fields } });
    expectOk(await define('authors', [{ name: 'name', kind: 'text' }]));
    const author = { name: 'author', kind: 'relation', target: 'authors' };
    expectOk(await define('essays', [{ name: 'title', kind: 'text' }, author]));
    const { value } = await run(`
      const { id } = await $app.records.create('authors', { name: 'Ada' });
      for (const title of ['a', 'b']) await $app.records.create('essays', { title, author: id });
      const essays = await $app.records.list('essays', { expand: 'author', fields: 'title', sort: 'title', skip_total: true });
      const authors = await $app.records.list('authors', { expand: 'essays_via_author' });
      return [essays.total_items, essays.items.map((one) => [Object.keys(one), one.fields, one.expand.author.fields.name]),
        authors.items[0].expand.essays_via_author.map((one) => one.fields.title)];`);
    const shown = ['id', 'collection', 'fields', 'expand'];
    expect(value).toEqual([-1, [[shown, { title: 'a' }, 'Ada'], [shown, { title: 'b' }, 'Ada']], ['a', 'b']]);
    expect((await run(`await $app.records.list('essays', { expand: 'nope' });`)).error.code).toBe(
      'unknown_column',
    );
    expect((await run(`await $app.records.list('essays', { skip_total: 1 });`)).error.message)
      .toContain('skip_total must be true or false');
  });

  it('throws what the API refuses', async () => {
    expect((await run(`await $app.records.create('posts', {});`)).error)
      .toEqual({ code: 'validation', message: 'title: is required' });
    expect((await run(`await $app.records.findOne('nope', 'x');`)).error.code).toBe('not_found');
    expect((await run(`await $app.records.list('posts', { filter: '(' });`)).error.code).toBe('parse_error');
    expect((await run(`await $app.records.list('posts', { page: 0 });`)).error.code).toBe('validation');
  });

  it('knows its app and finds users, without anything secret', async () => {
    const email = 'ada@example.com';
    const user = expectOk(
      await as().post(`${own.path}/auth/users/register`, { email, password: 'a long password' }),
    );
    const { value } = await run(
      `return [$app.id, $app.workspace, await $app.users.findOne('${user.id}'), await $app.users.findOne('x')];`,
    );
    const { created_at, updated_at } = user;
    expect(value).toEqual([
      app.id,
      own.id,
      { id: user.id, email, verified: false, created_at, updated_at },
      null,
    ]);
  });

  it('finds users by email, and none of another workspace', async () => {
    const email = `grace.${app.id}@example.com`;
    const password = 'a long password';
    const { id } = expectOk(await as().post(`${own.path}/auth/users/register`, { email, password }));
    const stranger = await ownUser(await ownWorkspace());
    const { value } = await run(`
      const emails = ['${email}', ' ${email.toUpperCase()}', '${stranger.email}', 'nobody', '', 'a\\0b'];
      return await Promise.all(emails.map(async (email) => (await $app.users.findByEmail(email))?.id ?? null));`);
    expect(value).toEqual([id, id, null, null, null, null]);
  });

  it('adds users, who sign in with the password or set one, and are audited', async () => {
    const [email, other] = [freshEmail(), freshEmail()];
    const { value } = await run(`
      const made = await $app.users.create({ email: '${email.toUpperCase()}', password: 'a long password' });
      const other = await $app.users.create({ email: '${other}' });
      return [made, await $app.users.findOne(made.id), other.verified];`);
    const [made, found, isVerified] = value as [{ id: string }, object, boolean];
    expect(made).toMatchObject({ email, verified: false });
    expect([found, isVerified]).toEqual([made, false]);
    const login = { email, password: 'a long password' };
    expect(expectOk(await as().post(`${own.path}/auth/users/login`, login)).user.id).toBe(made.id);
    const { items } = expectOk(await app.admin.get(`${app.path}/audit?action=user_register`));
    expect(items.at(-1)).toMatchObject({ target: email, details: { id: made.id, by: 'hook' } });
    expect(JSON.stringify(items)).not.toContain('a long password');
  });

  it('adds no user of a taken address, with a weak password or beyond the quota', async () => {
    const user = await ownUser(own);
    const create = async (given: string) => (await run(`await $app.users.create(${given});`)).error;
    expect((await create(`{ email: '${user.email}', password: 'another password' }`)).code).toBe('conflict');
    expect(await create(`{ email: '${freshEmail()}', password: 'short' }`)).toMatchObject({
      code: 'validation',
      message: 'password: must have at least 8 characters',
    });
    expect((await create(`{ email: 'no address' }`)).code).toBe('validation');
    expect((await create(`{ email: '${freshEmail()}', verified: true }`)).message).toContain('verified');
    const quota = `${own.path}/policies/quota.users`;
    expectOk(await own.admin.put(quota, { kind: 'range', min: 0, max: 1 }));
    expect((await create(`{ email: '${freshEmail()}' }`)).code).toBe('quota_exceeded');
    expectOk(await own.admin.delete(quota));
  });

  it('stores, reads and deletes files', async () => {
    const { value } = await run(`
      const made = await $app.files.create({ filename: 'a b.txt', mime: 'text/plain', content: 'hello' });
      const found = await $app.files.get(made.id);
      await $app.files.delete(made.id);
      return [made.filename, made.size, found.mime, await $app.files.get(made.id)];`);
    expect(value).toEqual(['a b.txt', 5, 'text/plain', null]);
  });

  it('reads files of up to 1 MiB', async () => {
    const put = async (size: number) =>
      expectOk(await app.admin.post(`${app.path}/files`, 'x'.repeat(size), { 'Content-Type': 'text/plain' }))
        .id;
    const read = async (size: number) =>
      await run(`return (await $app.files.get('${await put(size)}')).bytes.length;`);
    expect(await read(1_048_576)).toEqual({ value: 1_048_576 });
    expect((await read(1_048_577)).error)
      .toEqual({ code: 'hook_error', message: 'the file has more than 1048576 bytes' });
  });

  it('file.xss: stores no type or name of a file that would break out of a header', async () => {
    const { error } = await run(
      `await $app.files.create({ filename: 'a', mime: 'text/plain\\r\\n; x', content: 'x' });`,
    );
    expect(error.code).toBe('validation');
    const { value } = await run(`
      const made = await $app.files.create({ filename: 'a\\r\\nb', mime: 'text/plain', content: 'x' });
      return made.filename;`);
    expect(value).toBe('ab');
  });

  it('deletes a file as callers of the API do: fields are emptied, and a required one keeps it', async () => {
    for (const [id, required] of [['covers', false], ['invoices', true]]) {
      const fields = [{ name: 'scan', kind: 'file', required }, { name: 'note', kind: 'text' }];
      expectOk(await app.admin.post(`${app.path}/collections`, { schema: { id, kind: 'base', fields } }));
    }
    const source = `onRecordBeforeUpdate('covers', (e) => { e.record.fields.note = 'has lost it'; });`;
    expectOk(await app.admin.put(`${app.path}/hooks/covers.ts`, { source }));
    const { value } = await run(`
      const make = () => $app.files.create({ filename: 'a', mime: 'text/plain', content: 'x' });
      const [loose, held] = [await make(), await make()];
      const cover = await $app.records.create('covers', { scan: loose.id });
      await $app.records.create('invoices', { scan: held.id });
      await $app.files.delete(loose.id);
      const refused = await $app.files.delete(held.id).then(() => 'deleted', ({ code }) => code);
      const { fields } = await $app.records.findOne('covers', cover.id);
      return [fields, refused, (await $app.files.get(held.id)).size];`);
    expect(value).toEqual([{ scan: null, note: 'has lost it' }, 'conflict', 1]);
  });

  it('sends no request to a host that policy hooks.egress does not name', async () => {
    const { error } = await run(`await fetch('http://127.0.0.1:1/');`);
    expect(error.message).toContain('hooks.egress');
  });

  it('reports a wrong argument to the author, and goes on', async () => {
    const calls = [
      '$app.records.findOne("posts")',
      '$app.records.list("posts", { page: NaN })',
      '$app.records.create("posts", null)',
      '$app.mail.send({ to: "ada@example.com", subject: "x" })',
    ];
    const { value } = await run(`
      return Promise.all([${calls.join(', ')}].map((call) => call.catch(({ message }) => message)));`);
    expect(value).toEqual([
      'records.findOne: the id must be a text',
      'records.list: the query: page must be a number',
      'records.create: the fields must be an object',
      'mail.send: the mail: text must be a text',
    ]);
    const { last_kill } = expectOk(await app.admin.get(`${app.path}/hooks/status`));
    expect(last_kill).toBeNull();
  });

  it('may call 100 times in one run', async () => {
    const { value } = await run(`
      for (let calls = 0; ; calls++) {
        try { await $app.users.findOne('x'); } catch (error) { return [calls, error.code]; }
      }`);
    expect(value).toEqual([100, 'hook_error']);
  });

  it('has types for editors, those of the own collections too', async () => {
    const schema = { id: 'members', kind: 'auth', fields: [] };
    expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
    const types = await app.admin.get(`${app.path}/hooks/types`);
    expect(types.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(types.text).toContain('declare function onRecordBeforeCreate');
    expect(types.text).toContain('  posts: {\n    title: string;\n    state: "a" | "b" | null;\n  };');
    expect(types.text).toContain('interface HookProfiles {\n  members: true;\n}');
    // Of users everybody has all but a login: a handler need not ask whether there is an address.
    const shown = ['email: string', 'verified: boolean', 'last_login: string | null', 'oauth_providers: any'];
    expect(types.text).toContain(`  members: {\n${shown.map((one) => `    ${one};\n`).join('')}  };`);
    const users = /^ {2}users: \{\n([^}]*) {2}\};$/m.exec(types.text)?.[1];
    expect(users?.match(/\w+(?=: .* \| null;)/g)).toEqual(['last_login']);
  });
});
