// What hook files find around them in a real runner: globals, `$app`, the log.
import { describe, expect, it } from 'vitest';
import { order, startForTest, type TestRunner } from './runner.ts';

describe('the world of hook files', () => {
  const run = async (source: string, limits = {}) => {
    const runner = await startForTest();
    expect((await runner.load({ 'a.ts': source }, limits)).errors).toEqual([]);
    return runner;
  };
  const response = async (runner: TestRunner, path: string): Promise<unknown> => {
    const { body } = await runner.next('response', runner.request(`GET ${path}`));
    return JSON.parse(body !== null && 'text' in body ? body.text : '');
  };

  it('hook.globals: only the language, the web’s standard objects and the app’s own are there', async () => {
    const runner = await run(`routerAdd('GET', '/names', () => Object.getOwnPropertyNames(globalThis));
      routerAdd('GET', '/types', () => ['Deno', 'process', 'Worker', 'Buffer', 'global', 'localStorage', 'sessionStorage',
        'caches', 'WebSocket', 'EventSource', 'navigator', 'prompt', 'BroadcastChannel', 'MessageChannel', 'WebAssembly',
        'require', 'close', 'setImmediate', 'addEventListener'].filter((name) => globalThis[name] !== undefined
        && name !== 'addEventListener'));`);
    expect(await response(runner, '/types')).toEqual([]);
    const names = await response(runner, '/names');
    expect(names).toEqual(
      expect.arrayContaining(['$app', 'console', 'fetch', 'HttpError', 'routerAdd', 'Request']),
    );
    expect(names).not.toEqual(expect.arrayContaining(['Deno']));
  });

  it('hook.tampering: no file changes `$app` for another', async () => {
    const runner = await run(`
      const tries = [() => { $app.id = 'bank'; }, () => { $app.env.REGION = 'south'; }, () => { $app.records.list = null; },
        () => { $app.files.get = null; }, () => { $app.log.info = null; }, () => { delete $app.mail.send; }];
      const names = tries.map((one) => { try { one(); return 'changed'; } catch (error) { return error.name; } });
      routerAdd('GET', '/tries', () => [...new Set(names)]);`);
    expect(await response(runner, '/tries')).toEqual(['TypeError']);
  });

  it('hook.tampering: built-ins that a hook replaces break neither frames nor dispatch', async () => {
    const runner = await run(`
      const lie = () => '{"forged":true}';
      JSON.stringify = lie; JSON.parse = lie; Promise.prototype.then = lie; Map.prototype.get = lie; Map.prototype.set = lie;
      Object.prototype.toJSON = () => ({ forged: true }); Object.prototype.role = 'admin';
      TextEncoder.prototype.encode = lie; TextEncoder.prototype.encodeInto = lie; TextDecoder.prototype.decode = lie;
      Object.keys = lie; Object.freeze = lie; Array.prototype.push = lie; globalThis.queueMicrotask = lie; globalThis.Promise = lie;
      onRecordBeforeCreate('orders', (e) => { e.record.fields.total = 9; });
      onRecordBeforeCreate('bad', () => { throw new Error('no'); });
      routerAdd('GET', '/x', () => 'fine');`);
    expect(await runner.event('before_create')).toMatchObject({ outcome: 'done', changes: { total: 9 } });
    expect(await runner.event('before_create', { collection: 'bad' })).toMatchObject({
      outcome: 'veto',
      message: 'no',
    });
    expect(await runner.next('response', runner.request('GET /x'))).toMatchObject({ status: 200 });
    const id = runner.newId();
    runner.send({ type: 'ping', id });
    await runner.next('pong', id);
  });

  it('asks the API in the name of the invocation, through awaits and timers', async () => {
    const runner = await run(`
      routerAdd('GET', '/one', async () => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        const found = await $app.records.findOne('orders', 'x');
        const page = await $app.records.list('orders', { filter: 'total > 1', per_page: 5 });
        return [found.fields.total, page.items.length, $app.id, $app.workspace, $app.env.REGION, await $app.users.findOne('u')];
      });`);
    const ids = [runner.request('GET /one'), runner.request('GET /one')];
    const finds = [await runner.call('records.findOne'), await runner.call('records.findOne')];
    expect(finds.map(({ parent }) => parent)).toEqual(ids);
    expect(finds[0]?.args).toEqual(['orders', 'x']);
    for (const find of finds.reverse()) {
      runner.respond(find, order);
      const list = await runner.call('records.list');
      expect([list.parent, list.args]).toEqual([find.parent, ['orders', {
        filter: 'total > 1',
        per_page: 5,
      }]]);
      runner.respond(list, {
        items: [order],
        page: 1,
        per_page: 5,
        total_items: 1,
        total_pages: 1,
        next_cursor: null,
      });
      const user = await runner.call('users.findOne');
      expect(user.parent).toBe(find.parent);
      runner.respond(user, null);
      expect(await runner.next('response', find.parent)).toMatchObject({
        body: { text: JSON.stringify([3, 1, 'shop', 'acme', 'north', null]) },
      });
    }
  });

  it('hands on the API’s errors, and refuses calls after the end of a handler or with too much', async () => {
    const runner = await run(`
      routerAdd('GET', '/error', async () => {
        try { await $app.records.create('orders', {}); } catch (e) {
          return [e instanceof AppError, e.code, e.status, e.message];
        }
      });
      routerAdd('GET', '/late', () => { setTimeout(() => $app.records.delete('orders', 'x').catch((e) => console.log(e.message)), 5); });
      routerAdd('GET', '/much', () => $app.records.create('orders', { title: 'x'.repeat(300_000) }));
      routerAdd('GET', '/much_bytes', () => $app.records.create('orders', { title: 'ü'.repeat(200_000) }));
      routerAdd('GET', '/deep', () => { let v = 1; for (let i = 0; i < 99; i++) v = [v]; return $app.records.create('orders', { v }); });
      routerAdd('GET', '/endless', () => $app.records.update('orders', 'x', { title: 'a', total: 1 / 0 }));`);
    const id = runner.request('GET /error');
    const { id: call } = await runner.call('records.create');
    const error = { code: 'validation', status: 400, message: 'title: required' };
    runner.send({ type: 'result', id: call, ok: false, error });
    expect(await runner.next('response', id)).toMatchObject({
      body: { text: JSON.stringify([true, 'validation', 400, 'title: required']) },
    });
    await runner.next('response', runner.request('GET /late'));
    expect((await runner.log()).message).toContain('has ended');
    for (
      const [path, message] of [
        ['/much', 'exceed 262144 bytes'],
        ['/much_bytes', 'exceed 262144 bytes'],
        ['/deep', 'nested deeper'],
        ['/endless', 'the fields: total is Infinity'],
      ]
    ) {
      expect(await runner.next('result', runner.request(`GET ${path}`))).toMatchObject({
        faults: [{ message: expect.stringContaining(message ?? '') }],
      });
    }
    expect(runner.frames.filter(({ type }) => type === 'call')).toEqual([]);
  });

  it('stores, reads and deletes files, mails and publishes', async () => {
    const runner = await run(`
      routerAdd('GET', '/all', async () => {
        const made = await $app.files.create({ filename: 'a.bin', mime: 'image/png', content: new Uint8Array([0, 255]) });
        const read = await $app.files.get(made.id);
        await $app.files.delete(made.id);
        await $app.mail.send({ to: 'a@example.com', subject: 'Hi', text: 'Hello' });
        await $app.realtime.publish('orders', 'shipped', { id: 1 });
        return [made.id, [...read.bytes], read.filename];
      });`);
    const id = runner.request('GET /all');
    const file = {
      id: 'f1',
      filename: 'a.bin',
      mime: 'image/png',
      size: 2,
      created_at: '2026-11-20T10:00:00.000Z',
    };
    const made = await runner.call('files.create');
    expect(made.args).toEqual([{ filename: 'a.bin', mime: 'image/png', body: { base64: 'AP8=' } }]);
    runner.respond(made, file);
    runner.respond(await runner.call('files.get'), { ...file, body: { base64: 'AP8=' } });
    runner.respond(await runner.call('files.delete'), null);
    const mail = await runner.call('mail.send');
    expect(mail.args).toEqual([{ to: 'a@example.com', subject: 'Hi', text: 'Hello' }]);
    runner.respond(mail, null);
    const event = await runner.call('realtime.publish');
    expect(event.args).toEqual(['orders', 'shipped', { id: 1 }]);
    runner.respond(event, null);
    expect(await runner.next('response', id)).toMatchObject({ body: { text: '["f1",[0,255],"a.bin"]' } });
  });

  it('logs with level, file and fields, cut to what the API takes', async () => {
    const runner = await run(`
      onRecordBeforeCreate('orders', () => {
        console.error('bad %s', 'news', { a: [1] });
        $app.log.warn('careful', { total: 3 });
        console.log('ü'.repeat(100_000));
        $app.log.info('ring', (() => { const a = {}; a.a = a; return a; })());
      });`);
    const id = runner.start('before_create');
    const from = { parent: id, file: 'a.ts' };
    expect(await runner.log()).toMatchObject({ ...from, level: 'error', message: 'bad news { a: [ 1 ] }' });
    expect(await runner.log()).toMatchObject({
      ...from,
      level: 'warn',
      message: 'careful',
      fields: { total: 3 },
    });
    expect((await runner.log()).message).toMatch(/^ü+…+$/);
    expect(await runner.log()).toMatchObject({ message: 'ring', fields: { unreadable: expect.any(String) } });
  });

  it('logs fields up to half of a line, in bytes, and says how many more there were', async () => {
    const runner = await run(`
      onRecordBeforeCreate('orders', () => {
        for (const text of ['x'.repeat(4_085), 'x'.repeat(4_086), 'ü'.repeat(4_000)]) $app.log.info('long', { text });
      });`);
    await runner.event('before_create');
    expect((await runner.log()).fields).toEqual({ text: 'x'.repeat(4_085) });
    expect((await runner.log()).fields).toEqual({ omitted: '4097 characters' });
    expect((await runner.log()).fields).toEqual({ omitted: '4011 characters' });
  });

  it('drops lines of a flood instead of keeping them, and says so', async () => {
    const runner = await run(`
      onRecordBeforeCreate('orders', () => { for (let i = 0; i < 20_000; i++) console.log('x'.repeat(1000)); });
      onRecordBeforeDelete('orders', () => { console.log('after'); });`);
    await runner.event('before_create');
    expect(runner.frames.length).toBeLessThan(1000);
    runner.frames.length = 0;
    await runner.event('before_delete');
    expect((await runner.log()).message).toMatch(/^\(\d+ lines before this one were dropped\) after$/);
  });

  it('survives rejections and errors that nobody catches, and logs where they came from', async () => {
    const runner = await run(`
      onRecordBeforeCreate('orders', () => {
        Promise.reject(new Error('floating'));
        setTimeout(() => { throw new Error('timed'); }, 1);
      });`);
    expect(await runner.event('before_create')).toMatchObject({ outcome: 'done' });
    expect((await runner.log()).message).toContain('Error: floating at a.ts:3:');
    expect((await runner.log()).message).toContain('Error: timed at a.ts:4:');
    expect(await runner.event('before_create')).toMatchObject({ outcome: 'done' });
  });
});
