// What authors get wrong without meaning harm: they are told of it, and their process stays.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, ownWorkspace } from '../../harness/api.ts';
import { type HookedApp, hookedApp } from '../../harness/hooked-app.ts';

const source = `
const told = (work) => async () => {
  try { return { value: await work() }; } catch (e) { return { told: e.name + ': ' + e.message }; }
};
class Mail { get to() { return 'a@example.com'; } get subject() { return 's'; } get text() { return 't'; } }
class Title { title = 'made of a class'; get done() { return true; } }
class Strange extends HttpError { status = 700; }
routerAdd('GET', '/date', told(() => $app.records.create('posts', new Date(0))));
routerAdd('GET', '/text', told(() => $app.records.create('posts', new String('x'))));
routerAdd('GET', '/to-json', told(() => $app.records.create('posts', { toJSON: () => [1] })));
routerAdd('GET', '/getters', told(() => $app.mail.send(new Mail())));
routerAdd('GET', '/class', told(async () => (await $app.records.create('posts', new Title())).fields.title));
routerAdd('GET', '/query', told(() => $app.records.list('posts', new Date(0))));
routerAdd('GET', '/never', told(() => $app.records.create('posts', { meta: new Date('never') })));
routerAdd('GET', '/function', told(() => $app.records.update('posts', 'x', { meta: () => 1 })));
routerAdd('GET', '/undefined', told(async () => (await $app.records.create('posts', { meta: undefined })).fields.meta));
routerAdd('GET', '/limit', told(() => $app.records.list('posts', { filter: undefined, limit: 5 })));
routerAdd('GET', '/cc', told(() => $app.mail.send({ to: 'a@example.com', subject: 's', text: 't', cc: 'b@example.com' })));
routerAdd('GET', '/status', () => { throw new Strange(404, 'gone', 'it is gone'); });
routerAdd('GET', '/long-header', () => new Response('x', { headers: { 'x-long': 'y'.repeat(2_000_000) } }));
routerAdd('GET', '/many-headers', () => new Response('x', { headers: Array.from({ length: 1_100 }, (_, n) => ['x-' + n, '']) }));
routerAdd('GET', '/log', () => {
  let deep = {};
  for (let level = 0; level < 100; level++) deep = { deep };
  $app.log.info('deep', deep);
  $app.log.error('it failed', new TypeError('inner'));
  $app.log.error('it failed', { id: 1n, error: new TypeError('inner'), list: [new Error('other')] });
  $app.log.info({ a: { b: [1] } });
  $app.log.info(Object.create(null), 5);
  $app.log.info('half \\ud83d', { half: '\\ud83d' });
  return 'done';
});
routerAdd('GET', '/console', () => {
  for (const name of ['assert', 'clear', 'count', 'countReset', 'debug', 'dir', 'dirxml', 'error', 'group',
    'groupCollapsed', 'groupEnd', 'info', 'log', 'table', 'time', 'timeLog', 'timeEnd', 'timeStamp', 'trace', 'warn']) {
    console[name]();
  }
  console.dir({ a: 1 }, { depth: 0 });
  console.timeLog('none', 'after');
  return 'done';
});
`;

let app: HookedApp;

beforeAll(async () => {
  app = await hookedApp(await ownWorkspace(), source);
});

const ask = (path: string) => app.admin.get(`${app.path}/custom${path}`);

async function lines(count: number): Promise<{ message: string; fields: unknown }[]> {
  const { items } = expectOk(await app.admin.get(`${app.path}/hooks/logs?per_page=${count}`));
  return items.reverse().map(({ message, fields }: { message: string; fields: unknown }) => ({
    message,
    fields,
  }));
}

const collectionless = `
onRecordBeforeCreate('*', () => false);
onRecordBeforeCreate('post', () => false);
onRecordAfterCreate('post', () => {});
onRecordBeforeCreate('users', () => {});
onRecordBeforeCreate('posts', () => {});`;

it('tells in the log of a hook whose collection the app does not have, and warns of types alone', async () => {
  const own = await hookedApp(await ownWorkspace(), '');
  const { warnings, reload } = expectOk(
    await own.admin.put(`${own.path}/hooks/veto.js`, { source: collectionless }),
  );
  expect(reload).toEqual({ loaded: ['hooks.ts', 'veto.js'], errors: [] });
  expect(warnings).toEqual([]);
  const { items } = expectOk(await own.admin.get(`${own.path}/hooks/logs`));
  const told = items.filter(({ file }: { file: string | null }) => file === 'veto.js');
  const profiles = 'the server writes users itself; a collection of kind auth, of their profiles, has hooks';
  const none = 'the app has no collection of that name';
  expect(told).toEqual(
    [['users', profiles], ['post', none], ['*', none]].map(([name, why]) =>
      expect.objectContaining({ level: 'warn', message: `no hook of "${name}" runs: ${why}` })
    ),
  );
});

describe('a slip of an author', () => {
  it.each([
    ['/date', { told: 'TypeError: records.create: the fields must be an object' }],
    ['/text', { told: 'TypeError: records.create: the fields must be an object' }],
    ['/to-json', { told: 'TypeError: records.create: the fields must be an object' }],
    ['/getters', { told: 'TypeError: mail.send: the mail: to must be a text' }],
    ['/query', { told: 'TypeError: records.list: the query must be an object' }],
    ['/class', { value: 'made of a class' }],
    ['/never', {
      told: 'TypeError: records.create: the fields: meta is an invalid Date, which JSON cannot say',
    }],
    ['/function', {
      told: 'TypeError: records.update: the fields: meta is a function, which JSON cannot say',
    }],
    ['/undefined', { value: null }],
    ['/limit', {
      told: 'TypeError: records.list: the query: limit is none of ' +
        'filter, search, sort, page, per_page, cursor, expand, fields, skip_total',
    }],
    ['/cc', { told: 'TypeError: mail.send: the mail: cc is none of to, subject, text, html' }],
    ['/status', { code: 'hook_error', message: 'the hook failed; its log says why' }],
    ['/long-header', { code: 'hook_error', message: 'the hook failed; its log says why' }],
    ['/many-headers', { code: 'hook_error', message: 'the hook failed; its log says why' }],
    ['/log', 'done'],
    ['/console', 'done'],
  ])('is told where it is made: %s', async (path, response) => {
    expect((await ask(path)).body).toEqual(response);
    const status = expectOk(await app.admin.get(`${app.path}/hooks/status`));
    expect(status).toMatchObject({ last_kill: null, running: true });
  });

  it('is in the log, with the errors that it was given', async () => {
    await ask('/log');
    const inner = {
      message: 'TypeError: inner',
      file: 'hooks.ts',
      line: 26,
      stack: expect.stringMatching(/^at hooks.ts:26:/),
    };
    expect(await lines(6)).toEqual([
      { message: 'deep', fields: { unreadable: expect.stringContaining('nested deeper') } },
      { message: 'it failed', fields: { ...inner, column: expect.any(Number) } },
      {
        message: 'it failed',
        fields: {
          id: '1',
          error: { ...inner, line: 27, stack: expect.any(String), column: expect.any(Number) },
          list: [expect.objectContaining({ message: 'Error: other' })],
        },
      },
      { message: '{ a: { b: [ 1 ] } }', fields: null },
      { message: '[Object: null prototype] {}', fields: { value: 5 } },
      { message: 'half \ufffd', fields: { half: '\ufffd' } },
    ]);
    await ask('/status');
    expect(await lines(1)).toMatchObject([{
      message: 'the status of an HttpError lies between 400 and 599',
    }]);
    await ask('/long-header');
    expect(await lines(1)).toMatchObject([{
      message: 'GET /long-header: RangeError: the Response has too many headers, or too long ones',
    }]);
    await ask('/console');
    expect(await lines(2)).toEqual([{ message: '{ a: 1 }', fields: null }, {
      message: 'none: 0.00 ms after',
      fields: null,
    }]);
  });
});
