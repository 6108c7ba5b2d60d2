// Numbers that a double cannot hold, in hooks: they come and go with all of their digits.
import { beforeAll, expect, it } from 'vitest';
import { expectOk, ownWorkspace } from '../../harness/api.ts';
import { type HookedApp, hookedApp } from '../../harness/hooked-app.ts';

const big = '9007199254740993';
const meta = `{"id":${big},"list":[0.1000000000000000055,1.5]}`;

const source = `
const before = {
  change: (e) => { e.record.fields.meta.list[1]++; },
  replace: (e) => { e.record.fields.meta = { id: JSON.rawJSON('12345678901234567891') }; },
  calculate: (e) => { e.record.fields.meta.id = e.record.fields.meta.id + 1; },
  clone: (e) => { e.record.fields.meta = structuredClone(e.record.fields.meta); },
  reparse: (e) => { e.record.fields.meta = JSON.parse(JSON.stringify(e.record.fields.meta)); },
  part: (e) => { e.record.fields.meta = { ...e.record.fields.meta, list: JSON.parse(JSON.stringify(e.record.fields.meta.list)) }; },
  tiny: (e) => { e.record.fields.meta = [JSON.rawJSON('1e-400')]; },
  whole: (e) => { e.record.fields.count = JSON.rawJSON('${big}'); },
  types: (e) => {
    const { id, list } = e.record.fields.meta;
    e.record.fields.title = [JSON.isRawJSON(id), BigInt(id.rawJSON) + 1n, typeof list[1]].join(' ');
  },
};
onRecordBeforeCreate('posts', (e) => before[e.record.fields.title]?.(e));
onRecordBeforeUpdate('posts', (e) => { e.record.fields.count = 7; });
onRecordAfterCreate('posts', (e) => $app.records.create('seen', { what: e.record.id, data: e.record.fields.meta }));
routerAdd('POST', '/copy', async (e) => {
  const { items } = await $app.records.list('posts', { filter: 'meta.id = ${big}' });
  const one = await $app.records.findOne('posts', items[0].id);
  await $app.records.create('seen', { what: 'copy', data: one.fields.meta });
  return one.fields.meta;
});
routerAdd('POST', '/body', async (e) => {
  const body = await e.request.json();
  return (await $app.records.create('seen', { what: 'body', data: body })).fields.data;
});`;

let app: HookedApp;
let posts: string;

beforeAll(async () => {
  app = await hookedApp(await ownWorkspace(), source);
  posts = app.records('posts');
});

/** The members of JSON as text, without the spaces that PostgreSQL writes. */
function compact(text: string): string {
  return text.replaceAll(/(?<=[:,]) /g, '');
}

async function made(title: string): Promise<string> {
  const response = await app.admin.post(posts, `{"title":"${title}","meta":${meta}}`);
  expectOk(response);
  return compact(response.text);
}

it('a before-hook that leaves them alone keeps them, and so do the hooks of an update', async () => {
  expect(await made('kept')).toContain(`"meta":${meta}`);
  const { id } = expectOk(await app.admin.post(posts, `{"meta":${meta}}`));
  const changed = await app.admin.patch(`${posts}/${id}`, `{"meta":{"id":${big}0}}`);
  expect(expectOk(changed).fields.count).toBe(7);
  expect(compact(changed.text)).toContain(`"meta":{"id":${big}0}`);
});

it('a before-hook that changes what stands beside them keeps them', async () => {
  expect(await made('change')).toContain(`"meta":{"id":${big},"list":[0.1000000000000000055,2.5]}`);
});

it('a hook makes one with JSON.rawJSON, and reads its text', async () => {
  expect(await made('replace')).toContain('"meta":{"id":12345678901234567891}');
  expect(await made('types')).toContain('"title":"true 9007199254740994 number"');
});

it.each([
  ['calculate', 'hook_veto', 'Cannot convert object to primitive value'],
  ['clone', 'hook_veto', 'could not be cloned'],
  ['reparse', 'validation', 'meta.id: the hook has rounded this number'],
  ['part', 'validation', 'meta.list.0: the hook has rounded this number'],
  ['tiny', 'validation', 'range of a double'],
  ['whole', 'validation', 'a double can hold'],
])('what would change a digit is refused: %s', async (title, code, message) => {
  const response = await app.admin.post(posts, `{"title":"${title}","meta":${meta}}`);
  expect(response).toMatchObject({ status: 400, body: { code } });
  expect(response.body.message).toContain(message);
});

it('an after-hook stores what it was given', async () => {
  const { id } = expectOk(await app.admin.post(posts, `{"meta":${meta}}`));
  const found = await app.admin.get(`${app.records('seen')}?filter=what='${id}'`);
  expect(compact(found.text)).toContain(`"data":${meta}`);
});

it('a route reads them from $app and from its request, stores them and responds with them', async () => {
  await made('kept');
  const copied = await app.admin.post(`${app.path}/custom/copy`, {});
  expect(copied).toMatchObject({ status: 200, text: meta });
  // 1.10 and 1e2 are numbers that a double holds.
  const body = await app.admin.post(
    `${app.path}/custom/body`,
    `{"a":[${big},-0.1000000000000000055,1.10,1e2]}`,
  );
  expect(body).toMatchObject({ status: 200, text: `{"a":[${big},-0.1000000000000000055,1.1,100]}` });
  const stored = await app.admin.get(`${app.records('seen')}?filter=what in ['copy','body']&sort=what`);
  expect(compact(stored.text)).toContain(`"data":${meta}`);
});
