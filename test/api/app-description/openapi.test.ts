// GET …/openapi.json: valid, complete for the app, and true to what its collections take.
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';

let made: Scenario;
let path: string;
// deno-lint-ignore no-explicit-any
let document: any;

beforeAll(async () => {
  made = await scenario({
    collections: {
      projects: [{ name: 'title', kind: 'text', required: true, min: 2, max: 50 }],
      issues: [
        { name: 'state', kind: 'select', options: ['open', 'done'], required: true, default: 'open' },
        { name: 'labels', kind: 'select', options: ['bug', 'idea'], many: true, max: 5 },
        { name: 'votes', kind: 'number', min: 0, max: 10 },
        { name: 'number', kind: 'number', autonumber: true },
        { name: 'due', kind: 'datetime' },
        { name: 'extra', kind: 'json' },
        { name: 'mail', kind: 'email' },
        { name: 'project', kind: 'relation', target: 'projects', required: true },
      ],
    },
    hooks: {
      'routes.ts': `routerAdd('GET', '/report/:id', () => 1);
routerAdd('POST', '/report/:name', () => 1);
routerAdd('HEAD', '/ping', () => 1);
routerAdd('ANY', '/files/*', () => 1);`,
    },
  });
  const view = {
    id: 'efforts',
    kind: 'view',
    query: 'select project as id, count(*) as n from issues group by project',
  };
  const profiles = { id: 'profiles', kind: 'auth', fields: [{ name: 'name', kind: 'text' }] };
  for (const schema of [view, profiles]) expectOk(await made.admin.post(made.collections, { schema }));
  path = `${made.app.path}/openapi.json`;
  document = expectOk(await made.admin.get(path));
});

describe('the OpenAPI document of an app', () => {
  it('is valid', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(document.servers).toEqual([{ url: made.app.path }]);
  });

  it('has names of operations that differ', () => {
    const ids = Object.values<object>(document.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId)
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has the fields of collections, with their bounds', () => {
    const { ProjectsCreate, IssuesRecord, IssuesCreate, IssuesUpdate, ProfilesCreate } =
      document.components.schemas;
    const title = { type: 'string', minLength: 2, maxLength: 50 };
    expect(ProjectsCreate.properties.title).toEqual(title);
    expect(ProjectsCreate.required).toEqual(['title']);
    expect(IssuesCreate.required).toEqual(['project']);
    expect(IssuesCreate.properties).not.toHaveProperty('number');
    expect(IssuesCreate.properties.state).toEqual({
      type: 'string',
      enum: ['open', 'done'],
      default: 'open',
    });
    expect(IssuesUpdate.properties['votes+']).toEqual({ type: 'number' });
    expect(IssuesUpdate.properties.votes).toEqual({ type: ['number', 'null'], minimum: 0, maximum: 10 });
    expect(IssuesRecord.properties.fields.properties).toMatchObject({
      number: { type: ['integer', 'null'] },
      labels: { type: 'array', items: { type: 'string', enum: ['bug', 'idea'] }, maxItems: 5 },
      due: { type: ['string', 'null'], format: 'date-time' },
      extra: { description: 'Any JSON value.' },
      project: { type: 'string', format: 'uuid' },
    });
    expect(ProfilesCreate.required).toEqual(['email']);
  });

  it('has the operations of each collection, and of views and users those that read', () => {
    const methodsOf = (at: string) => Object.keys(document.paths[at] ?? {});
    expect(methodsOf('/collections/issues/records')).toEqual(['get', 'post']);
    expect(methodsOf('/collections/issues/records/{id}')).toEqual(['get', 'patch', 'delete']);
    for (const id of ['efforts', 'users']) {
      expect(methodsOf(`/collections/${id}/records`), id).toEqual(['get']);
      expect(methodsOf(`/collections/${id}/records/{id}`), id).toEqual(['get']);
    }
    const { post, get } = document.paths['/collections/issues/records'];
    expect(post.requestBody.content['application/json'].schema.$ref).toMatch(/\/IssuesCreate$/);
    expect(post.responses[201].content['application/json'].schema.$ref).toMatch(/\/IssuesRecord$/);
    expect(get.responses[200].content['application/json'].schema.properties.items.items.$ref)
      .toMatch(/\/IssuesRecord$/);
    const names = (get.parameters as { name: string }[]).map(({ name }) => name);
    expect(names).toContain('filter');
    expect(names).not.toContain('coll');
  });

  it('has custom routes, whose like paths are one', () => {
    const custom = Object.entries<object>(document.paths).filter(([at]) => at.startsWith('/custom'))
      .map(([at, operations]) => [at, Object.keys(operations)]);
    expect(Object.fromEntries(custom)).toEqual({
      '/custom/report/{id}': ['get', 'post'],
      '/custom/ping': ['head'],
      '/custom/files/{rest}': ['get', 'post', 'put', 'patch', 'delete'],
    });
  });

  it('comes with a tag, for admins of the app only', async () => {
    const { headers } = await made.admin.get(path);
    expect(headers.get('Content-Type')).toBe('application/json; charset=utf-8');
    const again = await made.admin.get(path, { 'If-None-Match': headers.get('ETag') ?? '' });
    expect(again).toMatchObject({ status: 304, text: '' });
    expect((await as().get(path)).status).toBe(401);
    expect((await (await made.user()).get(path)).status).toBe(403);
  });
});
