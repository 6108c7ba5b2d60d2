// `$app.as`: hook code acts for a caller, and sees and changes no more than the caller may.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, ownWorkspace } from '../../harness/api.ts';
import { type EndUser, owner, type Scenario, scenario, title } from '../../harness/scenario.ts';

// The body of a request to /run is code, so that each test reads as a hook file does.
const hooks = `
routerAdd('POST', '/run', async (e) => {
  const { code } = await e.request.json();
  const run = new Function('e', '$app', 'return (async () => {' + code + '})()');
  try { return { value: (await run(e, $app)) ?? null }; }
  catch ({ code, status, message, errors }) { return { error: { code, status, message, errors } }; }
});
for (const add of [onRecordBeforeCreate, onRecordBeforeUpdate, onRecordBeforeDelete]) {
  add('notes', (e) => { console.log('asked', { by: e.auth?.id ?? 'nobody', role: e.auth?.role ?? 'none' }); });
}
onRecordAfterCreate('notes', async (e) => {
  if (e.record.fields.title === 'ring') await $app.as(e.auth).records.create('notes', { title: 'ring', owner: e.auth.id });
});
`;
const own = 'owner = @request.auth.id';
const rules = { list: own, get: own, create: own, update: own, delete: own };

let shop: Scenario;
let ada: EndUser;
let eve: EndUser;
let note: string;
beforeAll(async () => {
  const file = { name: 'scan', kind: 'file' };
  const number = { name: 'count', kind: 'number' };
  shop = await scenario({
    collections: { notes: [title, number, owner, file], secrets: [title], likes: [title] },
    rules: { notes: rules, likes: { create: 'any', list: 'any' } },
    hooks: { 'hooks.ts': hooks },
  });
  [ada, eve] = [await shop.user(), await shop.user()];
  note = await shop.make(shop.records('notes'), { title: 'private', owner: ada.id });
});

/** Runs code in a route that the caller requests. */
async function run(caller: Caller | undefined, code: string) {
  const { body } = await (caller ?? as()).post(`${shop.app.path}/custom/run`, { code });
  return body as { value?: unknown; error?: { code: string; status: number; message: string } };
}

const codeOf = async (caller: Caller | undefined, code: string) => (await run(caller, code)).error?.code;

describe('$app.as(e.auth).records', () => {
  it('reads and writes what the user may', async () => {
    const { value } = await run(
      ada,
      `
      const { records } = $app.as(e.auth);
      const made = await records.create('notes', { title: 'own', owner: e.auth.id });
      const changed = await records.update('notes', made.id, { title: 'changed', 'count+': 2 });
      const list = await records.list('notes', { filter: "title = 'changed'", sort: 'title' });
      const counts = [await records.count('notes'), (await records.aggregate('notes', { fn: 'sum(count)' })).items];
      const found = await records.findOne('notes', made.id);
      await records.delete('notes', made.id);
      return [changed.fields.count, list.total_items, counts, found.fields.title, await records.findOne('notes', made.id)];`,
    );
    expect(value).toEqual([2, 1, [2, [{ group: {}, 'sum(count)': 2 }]], 'changed', null]);
  });

  it('shows another user nothing, as requests do', async () => {
    const calls = {
      get: [`findOne('notes', '${note}')`, 'get', `/${note}`],
      update: [`update('notes', '${note}', { title: 'x' })`, 'patch', `/${note}`],
      delete: [`delete('notes', '${note}')`, 'delete', `/${note}`],
      create: [`create('notes', { title: 'x', owner: '${ada.id}' })`, 'post', ''],
    } as const;
    for (const [call, method, path] of Object.values(calls)) {
      const body = method === 'post' ? { title: 'x', owner: ada.id } : { title: 'x' };
      const url = shop.records('notes') + path;
      const response =
        await (method === 'get' || method === 'delete' ? eve[method](url) : eve[method](url, body));
      const { error } = await run(eve, `return await $app.as(e.auth).records.${call};`);
      expect({ status: error?.status, code: error?.code, message: error?.message }, call)
        .toEqual({ status: 403, code: response.body.code, message: response.body.message });
    }
    const { value } = await run(
      eve,
      `
      const { records } = $app.as(e.auth);
      const list = await records.list('notes', { filter: "title ~ 'private'" });
      return [list.total_items, list.items, await records.count('notes'), (await records.aggregate('notes', { fn: 'count', group: 'title' })).items];`,
    );
    expect(value).toEqual([0, [], 0, []]);
    expect(await codeOf(eve, `await $app.as(e.auth).records.list('secrets');`)).toBe('forbidden');
    // The same code without \`as\` has the rights of an app admin.
    expect((await run(eve, `return await $app.records.count('notes');`)).value).toBe(1);
    expect((await eve.get(`${shop.records('notes')}/${note}`)).status).toBe(403);
  });

  it('knows a caller without a token', async () => {
    expect(await codeOf(undefined, `await $app.as(e.auth).records.findOne('notes', '${note}');`)).toBe(
      'unauthorized',
    );
    expect(await codeOf(undefined, `await $app.as(e.auth).records.list('secrets');`)).toBe('unauthorized');
    const { value } = await run(
      undefined,
      `
      const { fields } = await $app.as(e.auth).records.create('likes', { title: 'from nobody' });
      return [fields.title, (await $app.as(null).records.list('likes')).total_items];`,
    );
    expect(value).toEqual(['from nobody', 1]);
  });

  it('is the user for hooks of its writes, and a hook without', async () => {
    await run(
      ada,
      `
      await $app.as(e.auth).records.create('notes', { title: 'mine', owner: e.auth.id });
      await $app.records.create('notes', { title: 'by a hook' });`,
    );
    const { items } = expectOk(await shop.admin.get(`${shop.app.path}/hooks/logs?per_page=200`));
    const asked = items.filter(({ message }: { message: string }) => message.startsWith('asked'));
    expect(asked[1].message).toContain(ada.id);
    expect(asked[0].message).toContain("role: 'hook'");
  });

  it('nests no deeper than other writes of hooks', async () => {
    await run(ada, `await $app.as(e.auth).records.create('notes', { title: 'ring', owner: e.auth.id });`);
    const { value } = await run(
      ada,
      `return await $app.records.count('notes', { filter: "title = 'ring'" });`,
    );
    expect(value).toBe(3);
  });

  it('takes no file that the user may not read', async () => {
    const { id } = expectOk(await ada.post(`${shop.app.path}/files`, 'x', { 'Content-Type': 'text/plain' }));
    const create =
      `await $app.as(e.auth).records.create('notes', { title: 'f', owner: e.auth.id, scan: '${id}' });`;
    expect(await codeOf(eve, create)).toBe('validation');
    expect(await codeOf(ada, create)).toBeUndefined();
  });

  it('is nobody who does not exist, nor of another workspace', async () => {
    const stranger = await (await scenario({ workspace: await ownWorkspace() })).user();
    for (const id of [randomUUID(), stranger.id, 'x', '']) {
      const code = `await $app.as({ id: '${id}', role: 'user' }).records.list('notes');`;
      expect(await codeOf(ada, code), id).toBe('unauthorized');
    }
  });

  it('gives a made-up admin the rights of the hook, and nothing of the admin', async () => {
    const { email, id } = await shop.workspace.login();
    for (const role of ['app_admin', 'workspace_admin', 'master_admin', 'hook']) {
      const { value } = await run(
        eve,
        `
        const { records } = $app.as({ id: '${id}', role: '${role}' });
        const filter = "@request.auth.email = '${email}' || @request.auth.id = '${id}'";
        return [(await records.list('notes', { filter: "title = 'private'" })).total_items, (await records.list('notes', { filter })).total_items];`,
      );
      expect(value, role).toEqual([1, 0]);
    }
    expect(await codeOf(eve, `await $app.as({ id: '${id}', role: 'owner' }).records.list('notes');`)).toBe(
      'validation',
    );
  });

  it('refuses anything but a caller, and goes on', async () => {
    for (
      const caller of ['undefined', '', "'x'", '[]', '{}', "{ id: 'x' }", "{ id: 'x', role: 'user', app: 1 }"]
    ) {
      const { error } = await run(ada, `return await $app.as(${caller}).records.list('notes');`);
      expect(error?.message, caller).toContain('$app.as: ');
    }
    const { last_kill } = expectOk(await shop.admin.get(`${shop.app.path}/hooks/status`));
    expect(last_kill).toBeNull();
  });
});

describe('$app.batch', () => {
  const post = (fields: string) => `{ method: 'POST', collection: 'notes', body: ${fields} }`;

  it('does all writes, and returns what a request would get', async () => {
    const { value } = await run(
      undefined,
      `
      const [{ status, body }] = (await $app.batch([${post("{ title: 'batched' }")}])).results;
      const { results } = await $app.batch([
        { method: 'PATCH', collection: 'notes', id: body.id, body: { title: 'again' } },
        { method: 'DELETE', collection: 'notes', id: body.id },
      ]);
      return [status, body.fields.title, results.map(({ status, body }) => [status, body.ok ?? body.fields.title])];`,
    );
    expect(value).toEqual([201, 'batched', [[200, 'again'], [200, true]]]);
    expect((await run(undefined, 'return await $app.batch([]);')).value).toEqual({ results: [] });
  });

  it('does none of them when one is refused, and names it', async () => {
    const { error } = await run(
      undefined,
      `
      await $app.batch([${post("{ title: 'half' }")}, ${post('{ titel: 1 }')}]);`,
    );
    expect(error).toMatchObject({ code: 'validation', message: expect.stringMatching(/^requests\.1/) });
    expect(
      (await run(undefined, `return await $app.records.count('notes', { filter: "title = 'half'" });`)).value,
    ).toBe(0);
  });

  it('keeps to the rules for a caller', async () => {
    const mine = post(`{ title: 'half', owner: e.auth.id }`);
    const theirs = `{ method: 'DELETE', collection: 'notes', id: '${note}' }`;
    const { error } = await run(eve, `await $app.as(e.auth).batch([${mine}, ${theirs}]);`);
    expect(error).toMatchObject({ code: 'forbidden', message: expect.stringMatching(/^requests\.1/) });
    expect((await run(eve, `return await $app.as(e.auth).records.count('notes');`)).value).toBe(0);
    const done = await run(
      eve,
      `return (await $app.as(e.auth).batch([${mine}])).results[0].body.fields.owner;`,
    );
    expect(done.value).toBe(eve.id);
    expect(await codeOf(undefined, `await $app.as(e.auth).batch([${post("{ title: 'x' }")}]);`)).toBe(
      'unauthorized',
    );
  });

  it('refuses what is no batch, and goes on', async () => {
    const messages = {
      'undefined': 'batch: the requests must be an array',
      '[1]': 'batch: the requests: number 0 must be an object',
      "[{ method: 'POST' }]": 'batch: the requests: number 0: collection must be a text',
      "[{ method: 'GET', collection: 'notes' }]": 'requests.0.method',
      "[{ method: 'POST', collection: 'notes' }]": 'requests.0.body',
      "Array(101).fill({ method: 'DELETE', collection: 'notes', id: 'x' })": 'requests',
    };
    for (const [requests, message] of Object.entries(messages)) {
      expect((await run(ada, `await $app.batch(${requests});`)).error?.message, requests).toContain(message);
    }
    const { last_kill } = expectOk(await shop.admin.get(`${shop.app.path}/hooks/status`));
    expect(last_kill).toBeNull();
  });
});
