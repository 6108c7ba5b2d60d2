// The API description: valid, complete, in step with the code; and the other generated pages.
import { Validator } from '@seriousme/openapi-schema-validator';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCodes } from '../api/errors.ts';
import { hookErrors } from '../api/hooks/errors.ts';
import { describeApi } from '../api/contract/openapi.ts';
import { routeErrors } from '../api/contract/route-errors.ts';
import { routes } from '../api/routes/index.ts';
import { route } from '../api/contract/route.ts';
import { object, string } from '../api/contract/schema.ts';
import { pages } from './reference/pages.ts';

const root = join(import.meta.dirname, '..');
const document = describeApi(routes);

function operationsOf({ paths }: ReturnType<typeof describeApi>) {
  return Object.values(paths).flatMap((operations) => Object.values(operations));
}

describe('the API description', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(structuredClone({ ...document }));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  it('carries the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(document.info.version).toBe(version);
  });

  it('has one operation for each route, under names that differ', () => {
    const ids = operationsOf(document).map(({ operationId }) => operationId);
    expect(ids).toHaveLength(routes.length);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('gives each operation a response for the status of every error that its route can answer', () => {
    for (const each of routes) {
      const path = each.path.replaceAll(/(?:\*\*)?:([a-z]+)/g, '{$1}');
      const responses = Object.keys(document.paths[path]?.[each.method.toLowerCase()]?.responses ?? {});
      const statuses = routeErrors(each).map((code) => String(errorCodes[code].status));
      expect(responses, `${each.method} ${each.path}`).toEqual(expect.arrayContaining(statuses));
    }
  });

  it.each([
    ['/apps/{app}/files/{id}', 'files'],
    ['/apps/{app}/hooks/env', 'hooks'],
    ['/apps/{app}/collections/{coll}/records', 'records'],
    ['/apps/{app}/usage', 'usage'],
    ['/apps/{app}', 'apps'],
    ['/users/{id}', 'users'],
    ['/auth/sessions', 'auth'],
  ])('puts what there is at %s among the operations on %s', (path, tag) => {
    expect(document.paths[`/api/workspaces/{workspace}${path}`]?.['get']?.tags).toEqual([tag]);
  });

  it('refers only to components that it has', () => {
    const components: Record<string, Record<string, unknown>> = { ...document.components };
    for (
      const [, kind = '', name = ''] of JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)
    ) {
      expect(components[kind], `${kind}/${name}`).toHaveProperty([name]);
    }
  });

  it('says what a handler reads and answers by itself: bytes, headers, and statuses besides the first', () => {
    const files = '/api/workspaces/{workspace}/apps/{app}/files';
    const headersOf = (path: string, method: string) =>
      document.paths[path]?.[method]?.parameters?.filter((each) => each.in === 'header').map(({ name }) =>
        name
      );
    expect(document.paths[files]?.['post']?.requestBody).toEqual({
      required: false,
      content: { '*/*': { schema: {} } },
    });
    expect(headersOf(files, 'post')).toEqual(['X-Filename']);
    for (const path of [`${files}/{id}`, `${files}/{id}/shared`]) {
      expect(headersOf(path, 'get')).toEqual(['Range', 'If-Range', 'If-None-Match']);
      const { 200: whole, 206: part, 304: same } = document.paths[path]?.['get']?.responses ?? {};
      expect(part).toMatchObject({ content: { '*/*': {} } });
      expect(whole).toMatchObject({ content: { '*/*': {} } });
      expect(same).toMatchObject({ content: {} });
    }
    const events = '/api/workspaces/{workspace}/apps/{app}/collections/{coll}/events';
    expect(headersOf(events, 'get')).toEqual(['Last-Event-ID']);
  });

  it('says which other types a response may have, and that hooks may take and answer anything', () => {
    const typesOf = (path: string, method: string, status: string) => {
      const response = document.paths[path]?.[method]?.responses[status];
      return response !== undefined && 'content' in response ? Object.keys(response.content) : [];
    };
    const app = '/api/workspaces/{workspace}/apps/{app}';
    for (const path of ['/api/system/audit', '/api/workspaces/{workspace}/audit', `${app}/audit`]) {
      expect(typesOf(path, 'get', '200'), path).toEqual(['application/json', 'application/x-ndjson']);
    }
    expect(typesOf(`${app}/hooks/logs`, 'get', '200')).toEqual(['application/json', 'text/event-stream']);
    for (const method of ['get', 'post', 'put', 'patch', 'delete', 'options']) {
      expect(typesOf(`${app}/custom/{path}`, method, '200'), method).toEqual(['*/*']);
      expect(typesOf(`${app}/custom/{path}`, method, 'default'), method).toEqual(['*/*']);
    }
    for (const method of ['post', 'put', 'patch', 'delete']) {
      expect(document.paths[`${app}/custom/{path}`]?.[method]?.requestBody, method).toEqual({
        required: false,
        content: { '*/*': { schema: {} } },
      });
    }
  });

  it('refuses a path parameter that nobody has described', () => {
    const odd = route({
      method: 'GET',
      path: '/odd/:thing',
      summary: 'Odd.',
      scope: 'open',
      status: 200,
      response: object({}),
      handle: () => ({}),
    });
    expect(() => describeApi([odd])).toThrow(RangeError);
  });
});

describe('the errors of a route', () => {
  const answered = (extra: object) =>
    routeErrors(route({
      method: 'POST',
      path: '/api/workspaces/:workspace/apps/:app/odd',
      summary: 'Odd.',
      scope: 'app_admin',
      key: 'never',
      status: 200,
      response: object({}),
      handle: () => ({}),
      ...extra,
    }));

  it('follow from its scope, target and place in the pipeline', () => {
    expect(answered({})).toEqual([
      'unauthorized',
      'forbidden',
      'not_found',
      'workspace_not_found',
      'app_not_found',
      'payload_too_large',
      'too_many_requests',
      'internal',
      'uninitialized',
      'unavailable',
    ]);
  });

  it('include those of a body, of a query and its own', () => {
    const body = object({ name: string() });
    expect(answered({ body })).toEqual(expect.arrayContaining(['validation', 'deserialization']));
    expect(answered({ query: body })).toEqual(expect.arrayContaining(['validation']));
    expect(answered({ query: body })).not.toContain('deserialization');
    expect(answered({ errors: ['conflict'] })).toContain('conflict');
  });

  it.each([
    'POST /api/workspaces/:workspace/apps/:app/batch',
    'POST /api/workspaces/:workspace/apps/:app/collections/:coll/records',
    'PATCH /api/workspaces/:workspace/apps/:app/collections/:coll/records/:id',
    'DELETE /api/workspaces/:workspace/apps/:app/collections/:coll/records/:id',
    // Records that point to it lose it, and those of a user go.
    'DELETE /api/workspaces/:workspace/apps/:app/files/:id',
    'DELETE /api/workspaces/:workspace/users/:id',
  ])('include those of the hooks that are asked about %s', (name) => {
    const found = routes.find(({ method, path }) => `${method} ${path}` === name);
    expect(found === undefined ? [] : routeErrors(found)).toEqual(expect.arrayContaining([...hookErrors]));
  });

  it('are named by a route only when they do not follow from the rest of it', () => {
    const namedTwice = routes.flatMap((each) => {
      const { errors = [], ...rest } = each;
      const others = routeErrors(rest);
      return errors.filter((code) => others.includes(code)).map((code) =>
        `${each.method} ${each.path} ${code}`
      );
    });
    expect(namedTwice).toEqual([]);
  });

  it('leave out what an open route before setup never answers', () => {
    const open = answered({ path: '/odd', method: 'GET', scope: 'open', beforeSetup: true });
    expect(open).toEqual(['payload_too_large', 'too_many_requests', 'internal']);
  });
});

describe('the generated pages', () => {
  it.each(pages())(
    '$path is in step with the code (npm run reference writes it)',
    ({ path, text: expected }) => {
      expect(readFileSync(join(root, path), 'utf8')).toBe(expected);
    },
  );
});
