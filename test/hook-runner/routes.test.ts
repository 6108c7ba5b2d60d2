// Custom routes in a real runner: requests in, responses and streams out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRunner, type TestRunner } from './runner.ts';

const source = `
routerAdd('POST', '/echo/:name', async (e) => ({
  name: e.params.name, query: e.query, auth: e.auth, requestId: e.requestId, url: e.request.url,
  method: e.request.method, header: e.request.headers.get('x-a'), body: await e.request.text(),
}));
routerAdd('POST', '/bytes', async (e) => new Response(await e.request.arrayBuffer(), {
  status: 201, headers: [['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['X-B', 'c']],
}));
routerAdd('GET', '/text', () => new Response('héllo'));
routerAdd('GET', '/nothing', () => {});
routerAdd('GET', '/null', () => null);
routerAdd('GET', '/function', () => () => 1);
routerAdd('GET', '/teapot', () => { throw new HttpError(418, 'teapot', 'short and stout'); });
routerAdd('GET', '/bad-status', () => { throw new HttpError(200, 'ok', 'fine'); });
routerAdd('GET', '/low-status', () => { throw new HttpError(399, 'ok', 'fine'); });
routerAdd('GET', '/high-status', () => { throw new HttpError(600, 'ok', 'fine'); });
routerAdd('GET', '/bad-code', () => { throw new HttpError(418, 'two words', 'fine'); });
routerAdd('GET', '/long-code', () => { throw new HttpError(418, 'x'.repeat(65), 'fine'); });
routerAdd('GET', '/longest-code', () => { throw new HttpError(418, 'x'.repeat(64), 'fine'); });
routerAdd('GET', '/no-code', () => { throw new HttpError(418, null, 'fine'); });
class Own extends HttpError { constructor(status, code) { super(418, 'own', 'fine'); Object.assign(this, { status, code }); } }
routerAdd('GET', '/own-status', () => { throw new Own(99, 'own'); });
routerAdd('GET', '/own-code', () => { throw new Own(418, 7); });
routerAdd('GET', '/error-response', () => Response.error());
const named = (count, length) => new Response('', { headers: Array.from({ length: count }, (_, n) => ['x-' + n, 'x'.repeat(length)]) });
routerAdd('GET', '/many-headers', () => named(1_001, 1));
routerAdd('GET', '/long-headers', () => named(10, 14_000));
routerAdd('GET', '/thrown', () => { throw new Error('broken'); });
routerAdd('GET', '/large', () => 'x'.repeat(700_000));
const made = { count: 0, cancelled: null };
routerAdd('GET', '/endless', () => new Response(new ReadableStream({
  type: 'bytes',
  pull(c) { made.count++; c.enqueue(new Uint8Array(50_000).fill(120)); },
  cancel(reason) { console.log('cancelled', String(reason)); },
})));
routerAdd('GET', '/made', () => made.count);
routerAdd('GET', '/slow-stream', () => new Response(new ReadableStream({
  async start(c) {
    const bytes = new TextEncoder();
    c.enqueue(bytes.encode('one,'));
    await $app.records.findOne('steps', 'two');
    c.enqueue(bytes.encode('two'));
    c.close();
  },
})));
routerAdd('GET', '/failing-stream', () => new Response(new ReadableStream({
  async start(c) {
    c.enqueue(new TextEncoder().encode('one'));
    await $app.records.findOne('steps', 'two');
    c.error(new Error('torn'));
  },
})));
routerAdd('GET', '/late-stream', () => new Response(new ReadableStream({
  async start(c) {
    await $app.records.findOne('steps', 'one');
    c.enqueue(new TextEncoder().encode('one'));
    c.close();
  },
})));
routerAdd('GET', '/text-stream', () => new Response(new ReadableStream({ start(c) { c.enqueue('no bytes'); c.close(); } })));
routerAdd('GET', '/late', (e) => new Promise((resolve) => {
  e.request.signal.addEventListener('abort', () => { console.log('late'); resolve('late'); });
}));
routerAdd('GET', '/hang', (e) => new Promise((_, reject) => {
  e.request.signal.addEventListener('abort', () => { console.log('aborted'); reject(new Error('gone')); });
}));
`;

describe('custom routes in the hook runner', () => {
  let runner: TestRunner;
  beforeAll(async () => {
    runner = await startRunner();
    expect((await runner.load({ 'routes.ts': source })).errors).toEqual([]);
    runner.frames.splice(0); // the reports of the load's progress
  });
  afterAll(() => runner.kill());
  const get = (path: string) => runner.next('response', runner.request(`GET ${path}`));
  const fail = (path: string) => runner.next('result', runner.request(`GET ${path}`));

  it('gives handlers a standard request, parameters and the query', async () => {
    const id = runner.request('POST /echo/:name', {
      params: { name: 'Ann' },
      url: '/custom/echo/Ann?a=1&b=2&a=3',
      headers: [['host', 'shop.example'], ['x-a', 'yes']],
      body: { text: 'grüße' },
    });
    const { status, headers, body, end } = await runner.next('response', id);
    expect({ status, headers, end }).toEqual({
      status: 200,
      headers: [['content-type', 'application/json']],
      end: true,
    });
    expect(JSON.parse(body !== null && 'text' in body ? body.text : '')).toEqual({
      name: 'Ann',
      query: { a: '1', b: '2' },
      auth: null,
      requestId: 'r1',
      url: 'http://shop.example/custom/echo/Ann?a=1&b=2&a=3',
      method: 'POST',
      header: 'yes',
      body: 'grüße',
    });
  });

  it('gives handlers an absolute URL, whatever the request line and the host are', async () => {
    const urlOf = async (changed: { url: string; headers?: [string, string][] }) => {
      const id = runner.request('POST /echo/:name', changed);
      const { body } = await runner.next('response', id);
      return JSON.parse(body !== null && 'text' in body ? body.text : '').url;
    };
    const headers: [string, string][] = [['host', 'shop.example:8080']];
    expect(await urlOf({ url: '/a/../b c', headers })).toBe('http://shop.example:8080/b%20c');
    expect(await urlOf({ url: 'http://other.example/x?y', headers })).toBe('http://other.example/x?y');
    expect(await urlOf({ url: '/x', headers: [['host', 'no host']] })).toBe('http://localhost/x');
    expect(await urlOf({ url: '/x' })).toBe('http://localhost/x');
  });

  it('carries bytes both ways, and every Set-Cookie', async () => {
    const marked = runner.request('POST /bytes', { body: { text: '\ufeffa' } });
    expect(await runner.next('response', marked)).toMatchObject({ body: { text: '\ufeffa' } });
    const bells = Buffer.alloc(40_000, 7).toString('base64');
    const dear = runner.request('POST /bytes', { body: { base64: bells } });
    expect(await runner.next('response', dear)).toMatchObject({ body: { base64: bells } });
    const base64 = Buffer.from([0, 255, 128, 10]).toString('base64');
    const id = runner.request('POST /bytes', { body: { base64 } });
    expect(await runner.next('response', id)).toMatchObject({
      status: 201,
      headers: expect.arrayContaining([['set-cookie', 'a=1'], ['set-cookie', 'b=2'], ['x-b', 'c']]),
      body: { base64 },
      end: true,
    });
  });

  it('answers short bodies in one frame, JSON for other values and 204 for none', async () => {
    expect(await get('/text')).toMatchObject({ status: 200, body: { text: 'héllo' }, end: true });
    expect(await get('/nothing')).toMatchObject({ status: 204, body: null, end: true });
    expect(await get('/null')).toMatchObject({ status: 200, body: { text: 'null' }, end: true });
    const head = runner.request('GET /text', { method: 'HEAD' });
    expect(await runner.next('response', head)).toMatchObject({ status: 200, body: null, end: true });
  });

  it('tells an HttpError from an error', async () => {
    expect(await fail('/teapot')).toMatchObject({
      outcome: 'http_error',
      status: 418,
      code: 'teapot',
      message: 'short and stout',
    });
    const status = 'the status of an HttpError lies between 400 and 599';
    const code = 'the code of an HttpError is';
    const wrong = [
      // Told where it is made, and of what authors make of it, where it is thrown.
      ...['/bad-status', '/low-status', '/high-status'].map((path) => [path, `RangeError: ${status}`]),
      ...['/bad-code', '/long-code', '/no-code'].map((path) => [path, `TypeError: ${code}`]),
      ...[['/own-status', status], ['/own-code', code]],
      ...['/many-headers', '/long-headers'].map((path) => [path, 'too many headers, or too long ones']),
      ['/error-response', 'a route cannot respond with status 0'],
    ];
    for (const [path, message] of [['/thrown', 'Error: broken'], ...wrong]) {
      expect(await fail(path ?? '')).toMatchObject({
        outcome: 'failed',
        faults: [{ file: 'routes.ts', message: expect.stringContaining(message ?? '') }],
      });
    }
    expect(await fail('/longest-code')).toMatchObject({ outcome: 'http_error', code: 'x'.repeat(64) });
    expect(await fail('/function')).toMatchObject({ outcome: 'failed' });
    expect(await fail('/text-stream')).toMatchObject({
      outcome: 'failed',
      faults: [{ message: expect.stringContaining('Uint8Array') }],
    });
  });

  it('streams a body as it is made', async () => {
    const id = runner.request('GET /slow-stream');
    expect(await runner.next('response', id)).toMatchObject({ status: 200, body: null, end: false });
    expect(await runner.next('chunk', id)).toMatchObject({ body: { text: 'one,' } });
    runner.respond(await runner.call('records.findOne'), null);
    expect(await runner.next('chunk', id)).toMatchObject({ body: { text: 'two' } });
    await runner.next('end', id);
  });

  it('sends the head of a body that has not begun', async () => {
    const id = runner.request('GET /late-stream');
    expect(await runner.next('response', id)).toMatchObject({ status: 200, body: null, end: false });
    runner.respond(await runner.call('records.findOne'), null);
    expect(await runner.next('chunk', id)).toMatchObject({ body: { text: 'one' } });
    await runner.next('end', id);
  });

  it('ends a stream that fails with a result', async () => {
    const id = runner.request('GET /failing-stream');
    await runner.next('response', id);
    await runner.next('chunk', id);
    runner.respond(await runner.call('records.findOne'), null);
    expect(await runner.next('result', id)).toMatchObject({
      outcome: 'failed',
      faults: [{ message: 'Error: torn' }],
    });
  });

  it('sends no more of a body than was credited, and stops making it', async () => {
    const id = runner.request('GET /endless');
    const take = async (bytes: number) => {
      for (let taken = 0; taken < bytes; taken += 50_000) await runner.next('chunk', id);
    };
    await runner.next('response', id);
    await take(250_000);
    const before = JSON.stringify((await get('/made')).body);
    expect(runner.frames).toEqual([]);
    expect(JSON.stringify((await get('/made')).body)).toBe(before);
    runner.send({ type: 'credit', id, bytes: 10 });
    await get('/made');
    expect(runner.frames).toEqual([]);
    runner.send({ type: 'credit', id, bytes: 99_990 });
    await take(100_000);
    runner.send({ type: 'cancel', id });
    expect(await runner.log()).toMatchObject({ message: expect.stringContaining('no longer waits') });
    expect(runner.frames).toEqual([]);
  });

  it('sends long JSON in pieces', async () => {
    const id = runner.request('GET /large');
    expect(await runner.next('response', id)).toMatchObject({ status: 200, end: false });
    let text = '';
    while (text.length < 262_144 - 65_536) text += textOf(await runner.next('chunk', id));
    runner.send({ type: 'credit', id, bytes: 1_000_000 });
    while (text.length < 700_002) text += textOf(await runner.next('chunk', id));
    await runner.next('end', id);
    expect(JSON.parse(text)).toBe('x'.repeat(700_000));
  });

  it('aborts the request’s signal when the API cancels, and answers nothing more', async () => {
    for (const [path, message] of [['/hang', 'aborted'], ['/late', 'late']]) {
      runner.send({ type: 'cancel', id: runner.request(`GET ${path}`) });
      expect(await runner.log()).toMatchObject({ message });
    }
    expect(await get('/null')).toMatchObject({ status: 200 });
    expect(runner.frames).toEqual([]);
  });
});

function textOf({ body }: { body: { text: string } | { base64: string } }): string {
  return 'text' in body ? body.text : '';
}
