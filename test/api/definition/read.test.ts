// Reading the definition of an app as one document.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';

let workspace: OwnWorkspace;

beforeAll(async () => {
  workspace = await ownWorkspace();
});

const source = "routerAdd('GET', '/hello', () => ({ hello: 'you' }));\n";

async function definedApp(order: readonly string[] = ['posts', 'people']): Promise<OwnApp> {
  const app = await workspace.app();
  const { admin, path } = app;
  const schemas: Record<string, unknown> = {
    posts: {
      id: 'posts',
      fields: [{ name: 'title', kind: 'text', required: true, search: true }, { name: 'n', kind: 'number' }],
      indexes: [{ fields: ['title', 'n'], unique: true }],
      language: 'english',
    },
    people: { id: 'people', kind: 'auth', fields: [{ name: 'bio', kind: 'text' }] },
  };
  for (const id of order) expectOk(await admin.post(`${path}/collections`, { schema: schemas[id] }));
  const view = { id: 'titles', kind: 'view', query: 'select id, title from posts' };
  expectOk(await admin.post(`${path}/collections`, { schema: view }));
  const rule = { template: 'filter', filter: 'n > 1' };
  expectOk(await admin.put(`${path}/collections/posts/access_rules/list`, rule));
  expectOk(
    await admin.put(`${path}/policies/hooks.timeout_ms`, { kind: 'range', min: 10, max: 2_000 }),
  );
  expectOk(await admin.put(`${path}/hooks/main.ts`, { source }));
  expectOk(await admin.put(`${path}/hooks/env/TOKEN`, { value: 'a secret' }));
  return app;
}

describe('GET …/definition', () => {
  it('has collections, rules, policies, hook files and names of variables', async () => {
    const { admin, path } = await definedApp();
    const response = await admin.get(`${path}/definition`);
    const body = expectOk(response);
    expect(Object.keys(body)).toEqual(['version', 'collections', 'policies', 'hooks', 'variables']);
    const admins = { template: 'admin' };
    const others = { get: admins, create: admins, update: admins, delete: admins };
    const [people, posts, titles] = body.collections;
    expect(people).toMatchObject({ id: 'people', kind: 'auth', rules: { list: admins, ...others } });
    expect(people.fields.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['email', 'verified', 'bio']),
    );
    expect(posts).toEqual({
      id: 'posts',
      kind: 'base',
      language: 'english',
      fields: [{ name: 'title', kind: 'text', required: true, search: true }, { name: 'n', kind: 'number' }],
      indexes: [{ fields: ['title', 'n'], unique: true }],
      rules: { list: { template: 'filter', filter: 'n > 1' }, ...others },
    });
    expect(titles).toEqual({
      id: 'titles',
      kind: 'view',
      query: 'select id, title from posts',
      rules: { list: admins, get: admins },
    });
    expect(body.policies).toEqual([
      { field: 'hooks.timeout_ms', spec: { kind: 'range', min: 10, max: 2_000 } },
    ]);
    expect(body.hooks).toEqual([{ filename: 'main.ts', source }]);
    expect(body.variables).toEqual(['TOKEN']);
    expect(response.text).not.toContain('a secret');
  });

  it('is equal in every byte for equal apps, and has the same tag', async () => {
    const [one, other] = [await definedApp(), await definedApp(['people', 'posts'])];
    const [first, second] = [
      await one.admin.get(`${one.path}/definition`),
      await other.admin.get(`${other.path}/definition`),
    ];
    expect(first.text).toBe(second.text);
    expect(first.headers.get('etag')).toBe(second.headers.get('etag'));
  });

  it('answers 304 to whoever has it, until it changes', async () => {
    const { admin, path } = await definedApp();
    const tag = (await admin.get(`${path}/definition`)).headers.get('etag') ?? '';
    const again = await admin.get(`${path}/definition`, { 'If-None-Match': tag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    expectOk(await admin.delete(`${path}/collections/posts/access_rules/list`));
    const changed = await admin.get(`${path}/definition`, { 'If-None-Match': tag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(tag);
  });

  it('shows a key what its scopes name', async () => {
    const { admin, path } = await definedApp();
    const keyOf = async (scopes: string[]) => {
      const made = expectOk(await admin.post(`${path}/keys`, { name: scopes.join(' '), scopes }));
      return as(made.secret);
    };
    const members = async (scopes: string[]) => {
      const caller = await keyOf(scopes);
      return Object.keys(expectOk(await caller.get(`${path}/definition`)));
    };
    expect(await members(['definition:read'])).toEqual(['version', 'collections']);
    expect(await members(['definition:read', 'policies:read'])).toContain('policies');
    expect(await members(['definition:read', 'hooks:read'])).toEqual([
      'version',
      'collections',
      'hooks',
      'variables',
    ]);
    const blind = await keyOf(['hooks:read', 'policies:read']);
    expect((await blind.get(`${path}/definition`)).status).toBe(403);
  });
});
