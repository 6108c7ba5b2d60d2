// GET …/types.d.ts: the module of an app, as the TypeScript compiler reads it beside the code of a client.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, send, serverUrl } from '../../harness/api.ts';
import { underlinedIn } from '../../harness/editor.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';

let made: Scenario;
let folder: string;
let types: string;

beforeAll(async () => {
  made = await scenario({
    collections: {
      projects: [{ name: 'title', kind: 'text', required: true }],
      issues: [
        { name: 'title', kind: 'text', required: true },
        { name: 'state', kind: 'select', options: ['open', 'done'], required: true, default: 'open' },
        { name: 'labels', kind: 'select', options: ['bug', "it's"], many: true },
        { name: 'votes', kind: 'number' },
        { name: 'number', kind: 'number', autonumber: true },
        { name: 'due', kind: 'datetime' },
        { name: 'extra', kind: 'json' },
        { name: 'project', kind: 'relation', target: 'projects', required: true },
        { name: 'author', kind: 'relation', target: 'users' },
        { name: 'attachments', kind: 'file', many: true },
      ],
      issue_labels: [{ name: 'issue', kind: 'relation', target: 'issues' }],
      issueLabels: [],
    },
    hooks: {
      'routes.ts': `routerAdd('GET', '/report/:id', () => 1);
routerAdd('ANY', '/files/*', () => 1);
routerAdd('POST', '/it/{name}', () => 1);`,
    },
  });
  const { app, collections } = made;
  const more = [
    { id: 'profiles', kind: 'auth', fields: [{ name: 'name', kind: 'text' }] },
    {
      id: 'efforts',
      kind: 'view',
      query: 'select project as id, count(*) as issues from issues group by project',
    },
  ];
  for (const schema of more) expectOk(await app.admin.post(collections, { schema }));
  folder = await mkdtemp(join(tmpdir(), 'client-types-'));
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'esnext', module: 'esnext', types: [] },
    ...{ noUnusedLocals: false, exactOptionalPropertyTypes: true, skipLibCheck: false },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  types = await read();
});
afterAll(() => rm(folder, { recursive: true }));

async function read(): Promise<string> {
  return (await made.admin.get(`${made.app.path}/types.d.ts?for=client`)).text;
}

/** The lines of a client that the compiler underlines, with this module. */
async function underlined(lines: readonly string[], module = types): Promise<number[]> {
  await writeFile(join(folder, 'bulkhead.types.ts'), module);
  await writeFile(join(folder, 'client.ts'), lines.join('\n'));
  const all = underlinedIn(folder);
  expect(all.filter((line) => !line.startsWith('client.ts'))).toEqual([]);
  return all.map((line) => Number(/^client\.ts\((\d+),/.exec(line)?.[1]));
}

describe('the types of an app', () => {
  it('have everything that a client reads', async () => {
    expect(
      await underlined([
        "import type { ErrorCode, IssuesRecord, LinkedFile, ProfilesRecord, EffortsRecord, Types } from './bulkhead.types.ts';",
        'declare const issue: IssuesRecord;',
        'declare const profile: ProfilesRecord;',
        'export const title: string = issue.fields.title;',
        "export const state: 'open' | 'done' = issue.fields.state;",
        `export const labels: ('bug' | "it's")[] = issue.fields.labels;`,
        'export const votes: number | null = issue.fields.votes;',
        'export const number: number | null = issue.fields.number;',
        'export const due: string | null = issue.fields.due;',
        'export const deep: boolean = issue.fields.extra.any.thing;',
        'export const at: string = issue.created_at + issue.updated_at + issue.id;',
        "export const from: 'issues' = issue.collection;",
        'export const email: string = profile.fields.email;',
        "export const code: ErrorCode = 'validation';",
        "export const project: Types['collections']['issues']['expand']['project'] = { to: 'projects', many: false };",
        "export const files: Types['collections']['issues']['expand']['attachments'] = { to: '_files', many: true };",
        "export const author: Types['collections']['issues']['expand']['author']['to'] = 'users';",
        "export const back: Types['collections']['projects']['expand']['issues_via_project'] = { to: 'issues', many: true };",
        "export const users: Types['collections']['users']['expand']['issues_via_author']['to'] = 'issues';",
        "export const kind: Types['collections']['efforts']['kind'] = 'view';",
        "export const url: (file: LinkedFile) => string = (file: Types['files']) => file.url;",
        'export const count: (effort: EffortsRecord) => number | null = ({ fields }) => fields.issues;',
        "export const report: Types['routes']['GET /report/:id']['params'] = { id: 'x' };",
        "export const rest: Types['routes']['PATCH /files/*']['params'] = { '*': 'a/b' };",
        "export const it: Types['routes']['POST /it/:name']['params'] = { name: 'a' };",
      ]),
    ).toEqual([]);
  });

  it('admit what the server takes, and nothing else', async () => {
    expect(
      await underlined([
        "import type { IssuesCreate, IssuesUpdate, ProfilesCreate, Types } from './bulkhead.types.ts';",
        "export const least: IssuesCreate = { title: 'x', project: 'y' };",
        "export const user: ProfilesCreate = { email: 'a@example.com', password: 'long', name: null };",
        "export const changes: IssuesUpdate = { 'votes+': 1, 'labels-': ['bug'], due: null };",
        "export const untitled: IssuesCreate = { project: 'y' };",
        "export const numbered: IssuesCreate = { title: 'x', project: 'y', number: 1 };",
        "export const wrong: IssuesCreate = { title: 'x', project: 'y', state: 'opne' };",
        'export const none: IssuesUpdate = { title: null };',
        "export const odd: IssuesUpdate = { 'title+': 'x' };",
        "export const address: import('./bulkhead.types.ts').ProfilesUpdate = { email: 'b@example.com' };",
        "export const view: Types['collections']['efforts']['create'] = {};",
        "export const person: Types['collections']['users']['update'] = {};",
        "export const back: Types['collections']['projects']['expand']['comments_via_project'] = {};",
      ]),
    ).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13]);
  });

  it('give collections names that differ, whatever their ids are', () => {
    const names = [...types.matchAll(/^export interface (\w+) /gm)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(['IssueLabelsRecord', 'IssueLabels_2Record']));
    expect(new Set(names).size).toBe(names.length);
  });

  it('make a program fail that uses a field which has another name by now', async () => {
    const lines = [
      "import type { ProjectsRecord } from './bulkhead.types.ts';",
      'export const show = ({ fields }: ProjectsRecord): string => fields.title;',
    ];
    expect(await underlined(lines)).toEqual([]);
    const fields = [{ name: 'name', was: 'title', kind: 'text', required: true }];
    expectOk(await made.admin.patch(`${made.collections}/projects`, { schema: { fields } }));
    expect(await underlined(lines, await read())).toEqual([2]);
  });
});

describe('the response with them', () => {
  it('has a tag, by which a client gets it only when it is another', async () => {
    const path = `${made.app.path}/types.d.ts`;
    const { headers, text } = await made.admin.get(path);
    const tag = headers.get('ETag') ?? '';
    expect(headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(tag).toMatch(/^"[\w-]{27}"$/);
    const token = made.admin.token ?? '';
    const ask = () => made.admin.get(path, { 'If-None-Match': tag });
    expect(await ask()).toMatchObject({ status: 304, text: '' });
    const head = { method: 'HEAD', headers: { Authorization: `Bearer ${token}` } };
    expect(await send(serverUrl() + path, head)).toMatchObject({ status: 200, text: '' });
    expectOk(await made.admin.post(made.collections, { schema: { id: 'later', fields: [] } }));
    const changed = await ask();
    expect(changed.status).toBe(200);
    expect(changed.text).not.toBe(text);
    expect(changed.text).toContain('LaterRecord');
  });

  it('is for admins of the app, and keys that may read definitions', async () => {
    const path = `${made.app.path}/types.d.ts`;
    expect((await as().get(path)).status).toBe(401);
    expect((await (await made.user()).get(path)).status).toBe(403);
    const key = expectOk(
      await made.admin.post(`${made.app.path}/keys`, { name: 'ci', scopes: ['definition:read'] }),
    );
    expect((await as(String(key.secret)).get(path)).status).toBe(200);
    expect(await made.admin.get(`${path}?for=hooks`)).toMatchObject({
      ...{ status: 400, body: { code: 'validation' } },
    });
  });
});
