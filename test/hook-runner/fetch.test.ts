// `fetch` in a real runner, which the API sends.
import { expect, it } from 'vitest';
import { startForTest, type TestRunner } from './runner.ts';

async function run(source: string): Promise<TestRunner> {
  const runner = await startForTest();
  expect((await runner.load({ 'a.ts': source })).errors).toEqual([]);
  return runner;
}

async function response(runner: TestRunner, path: string): Promise<unknown> {
  const { body } = await runner.next('response', runner.request(`GET ${path}`));
  return JSON.parse(body !== null && 'text' in body ? body.text : '');
}

it('is sent through the API, whole', async () => {
  const runner = await run(`
    routerAdd('GET', '/fetch', async () => {
      const answer = await fetch('https://api.example/x', { method: 'POST', body: 'hi', headers: { 'x-a': 'b' } });
      return [answer.status, answer.ok, answer.url, answer.headers.get('x-c'), await answer.json()];
    });
    routerAdd('GET', '/refused', () => fetch('http://10.0.0.1/').catch((e) => [e.name, e.message, e.cause.code]));`);
  const id = runner.request('GET /fetch');
  const call = await runner.call('fetch');
  expect(call.args[0]).toMatchObject({
    url: 'https://api.example/x',
    method: 'POST',
    body: { text: 'hi' },
    redirect: 'follow',
  });
  expect(call.args[0].headers).toContainEqual(['x-a', 'b']);
  runner.respond(call, {
    url: 'https://api.example/y',
    redirected: true,
    status: 201,
    status_text: 'Created',
    headers: [['x-c', 'd']],
    body: { text: '{"n":1}' },
  });
  expect(await runner.next('response', id)).toMatchObject({
    body: { text: JSON.stringify([201, true, 'https://api.example/y', 'd', { n: 1 }]) },
  });
  const refused = runner.request('GET /refused');
  const { id: second } = await runner.call('fetch');
  runner.send({
    type: 'result',
    id: second,
    ok: false,
    error: { code: 'forbidden', status: 403, message: 'not in hooks.egress' },
  });
  expect(await runner.next('response', refused)).toMatchObject({
    body: { text: JSON.stringify(['TypeError', 'fetch: not in hooks.egress', 'forbidden']) },
  });
});

it('has no body where HTTP has none, and ends with its signal', async () => {
  const runner = await run(`
    const api = 'https://api.example/';
    routerAdd('GET', '/status', async () => {
      const answer = await fetch(api, { method: 'POST', body: '' });
      return [answer.status, answer.body, await answer.text()];
    });
    routerAdd('GET', '/aborted', async () => {
      const controller = new AbortController();
      const asked = fetch(api, { signal: controller.signal });
      setTimeout(() => controller.abort(new Error('enough')));
      return await asked.catch((error) => error.message);
    });
    routerAdd('GET', '/before', () =>
      fetch(api, { method: 'POST', body: 'x', signal: AbortSignal.abort(new Error('no')) }).catch((error) => error.message));`);
  const answered = { url: 'https://api.example/', redirected: false, status_text: '', headers: [] };
  for (const status of [204, 205, 304]) {
    const id = runner.request('GET /status');
    const call = await runner.call('fetch');
    expect(call.args[0].body).toBeNull();
    runner.respond(call, { ...answered, status, body: { text: 'x' } });
    expect(await runner.next('response', id)).toMatchObject({
      body: { text: JSON.stringify([status, null, '']) },
    });
  }
  expect(await response(runner, '/aborted')).toBe('enough');
  await runner.call('fetch');
  expect(await response(runner, '/before')).toBe('no');
  expect(runner.frames.filter(({ type }) => type === 'call')).toEqual([]);
});
