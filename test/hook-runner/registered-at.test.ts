// Where the fault is said to be of a handler that throws nothing with a place of its own: where it was registered.
import { describe, expect, it } from 'vitest';
import { startForTest } from './runner.ts';

const unsayable = `
routerAdd('GET', '/function', () => () => 1);
for (const name of ['one', 'two']) {
  routerAdd('POST', '/' + name, () => 10n);
}
routerAdd('GET', '/used', async () => {
  const answer = new Response('x');
  await answer.text();
  return answer;
});
  routerAdd('GET', '/text-stream', () => new Response(new ReadableStream({ start(c) { c.enqueue('a'); c.close(); } })));
routerAdd('GET', '/thrown-text', () => { throw 'out of tea'; });
routerAdd('GET', '/own', () => ({ toJSON() { throw new Error('mine'); } }));
cronAdd('job', '@daily', () => { throw 'nothing to do'; });
onRecordAfterCreate('orders', () => { throw 'too late'; });
onRecordBeforeCreate('orders', (e) => { e.record.fields.title = () => 1; });
onRecordBeforeUpdate('orders', (e) => { e.record.fields.title = () => 1; });
onRecordBeforeUpdate('orders', () => {});
`;

describe('the fault of a handler without a place of its own', () => {
  const load = async () => {
    const runner = await startForTest();
    expect((await runner.load({ 'a.js': unsayable })).errors).toEqual([]);
    const faultOf = async (id: number) => {
      const result = await runner.next('result', id);
      return result.outcome === 'failed' ? result.faults[0] : undefined;
    };
    return { runner, faultOf };
  };

  it.each([
    ['GET /function', 'TypeError: a route cannot respond with a function', 2, 1],
    ['POST /two', 'TypeError: Do not know how to serialize a BigInt', 4, 3],
    ['GET /used', 'TypeError: ReadableStream is locked', 6, 1],
    ['GET /text-stream', 'TypeError: the body of a Response must be of bytes (Uint8Array)', 11, 3],
    ['GET /thrown-text', 'out of tea', 12, 1],
  ])('names route, line and column of %s', async (route, message, line, column) => {
    const { runner, faultOf } = await load();
    expect(await faultOf(runner.request(route)))
      .toEqual({ message: `${route}: ${message}`, file: 'a.js', line, column, stack: null });
  });

  it('names line and column of a job and of a record hook', async () => {
    const { runner, faultOf } = await load();
    const id = runner.newId();
    runner.send({
      type: 'cron',
      id,
      name: 'job',
      scheduled_at: '2026-11-23T00:00:00.000Z',
      request_id: 'r1',
    });
    expect(await faultOf(id)).toMatchObject({ message: 'nothing to do', line: 14, column: 1 });
    expect(await faultOf(runner.start('after_create'))).toMatchObject({ message: 'too late', line: 15 });
    expect(await faultOf(runner.start('before_create'))).toMatchObject({ file: 'a.js', line: 16, column: 1 });
  });

  it('names no line where any of several hooks can have done it', async () => {
    const { runner, faultOf } = await load();
    expect(await faultOf(runner.start('before_update'))).toMatchObject({ file: 'a.js', line: null });
  });

  it('leaves an error that knows its place as it is', async () => {
    const { runner, faultOf } = await load();
    expect(await faultOf(runner.request('GET /own'))).toMatchObject({
      message: 'Error: mine',
      line: 13,
      column: 52,
    });
  });
});

it('an error that nobody caught has its file, when its call is over too', async () => {
  const runner = await startForTest();
  await runner.load({ 'a.js': `setTimeout(() => {\n  throw new Error('on its own');\n});` });
  expect(await runner.next('log')).toMatchObject({
    message: expect.stringContaining('on its own'),
    file: 'a.js',
  });
});
