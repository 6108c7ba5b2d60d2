// `$app.records.update` with what `JSON.parse` has rounded: the record keeps its digits, and the author gets to know it.
import { beforeAll, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { type Scenario, scenario, title } from '../../harness/scenario.ts';

const data = '{"next":9007199254740993,"list":[0.12345678901234567891]}';
const hooks = `
routerAdd('POST', '/run', async (e) => {
  const { code, id } = await e.request.json();
  const run = new Function('$app', 'id', 'rounded', 'data', 'return (async () => {' + code + '})()');
  const { fields } = await $app.records.findOne('notes', id);
  try { return (await run($app, id, JSON.parse(JSON.stringify(fields.data)), fields.data)) ?? null; }
  catch ({ code, errors }) { return { code, path: errors[0]?.path }; }
});
onRecordBeforeUpdate('notes', ({ record: { fields } }) => {
  if (fields.title === 'rounds') fields.data = JSON.parse(JSON.stringify(fields.data));
});
`;

let shop: Scenario;
let id: string;
beforeAll(async () => {
  shop = await scenario({
    collections: { notes: [title, { name: 'data', kind: 'json' }] },
    rules: { notes: { update: 'any' } },
    hooks: { 'hooks.ts': hooks },
  });
  id = expectOk(await shop.admin.post(shop.records('notes'), `{ "title": "a", "data": ${data} }`)).id;
});

const run = async (code: string) => (await as().post(`${shop.app.path}/custom/run`, { code, id })).body;
const stored = async () => (await shop.admin.get(`${shop.records('notes')}/${id}`)).text;

it('refuses what was rounded, and names the number', async () => {
  const batch = `[{ method: 'PATCH', collection: 'notes', id, body: { data: rounded } }]`;
  expect(await run(`await $app.records.update('notes', id, { title: 'b', data: rounded });`))
    .toEqual({ code: 'validation', path: 'data.list.0' });
  expect(await run(`await $app.batch(${batch});`)).toEqual({
    code: 'validation',
    path: 'requests.0.body.data.list.0',
  });
  expect(await stored()).toContain('9007199254740993');
  expect(await stored()).toContain('"a"');
});

it('refuses it of a before-hook, whose record is stored already', async () => {
  const refused = await shop.admin.patch(`${shop.records('notes')}/${id}`, { title: 'rounds' });
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'data.list.0' }] } });
});

it('takes a copy with all digits, other numbers and other fields', async () => {
  const codes = [
    `await $app.records.update('notes', id, { data: { ...data, more: 1 } });`,
    `await $app.records.update('notes', id, { title: 'c' });`,
    `await $app.batch([{ method: 'PATCH', collection: 'notes', id, body: { data: { ...data } } }]);`,
  ];
  for (const code of codes) expect(await run(code), code).toBeNull();
  expect(await stored()).toContain('9007199254740993');
  expect(await run(`await $app.records.update('notes', id, { data: { next: 1 } });`)).toBeNull();
});

it('tells nothing of a record that the caller may not read', async () => {
  await run(`await $app.records.update('notes', id, { data: { next: JSON.rawJSON('9007199254740993') } });`);
  expect(await run(`await $app.as(null).records.update('notes', id, { data: { next: 9007199254740992 } });`))
    .toBeNull();
});
