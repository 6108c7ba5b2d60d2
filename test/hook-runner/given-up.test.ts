// What hook code hears when nobody waits for it any more.
import { expect, it } from 'vitest';
import { Invocations } from '../../hook-runner/invocations.ts';
import { ResponseSender } from '../../hook-runner/responses.ts';
import { startForTest } from './runner.ts';

const source = `
  onRecordAfterCreate('orders', async () => {
    try { await $app.records.list('orders'); } catch (error) { console.log('given up:', error.message); }
  });
  routerAdd('GET', '/stream', () => new Response(new ReadableStream({
    pull: (c) => c.enqueue(new Uint8Array(1_000)),
    cancel: () => console.log('not read'),
  })));
  routerAdd('GET', '/too-late', async () => {
    await $app.records.list('orders').catch(() => undefined);
    return new Response(new ReadableStream({ cancel: () => console.log('not wanted') }));
  });
  routerAdd('GET', '/texts', () => new Response(new ReadableStream({
    start: (c) => c.enqueue('no bytes'),
    cancel: () => console.log('of no use'),
  })));`;

it('rejects its calls of $app that are under way', async () => {
  const runner = await startForTest();
  expect((await runner.load({ 'a.ts': source })).errors).toEqual([]);
  const id = runner.start('after_create');
  await runner.call('records.list');
  runner.send({ type: 'cancel', id });
  expect(await runner.log()).toMatchObject({
    message: 'given up: cancelled: the server no longer waits for this call',
  });
});

it('cancels the body of a response that a HEAD does not get', async () => {
  const runner = await startForTest();
  await runner.load({ 'a.ts': source });
  const id = runner.request('GET /stream', { method: 'HEAD' });
  expect(await runner.next('response', id)).toMatchObject({ status: 200, body: null, end: true });
  expect(await runner.log()).toMatchObject({ message: 'not read' });
});

it('cancels the body of a response that comes when nobody waits any more', async () => {
  const runner = await startForTest();
  await runner.load({ 'a.ts': source });
  // The reports of the load's progress.
  runner.frames.splice(0);
  const id = runner.request('GET /too-late');
  await runner.call('records.list');
  runner.send({ type: 'cancel', id });
  expect(await runner.log()).toMatchObject({ message: 'not wanted' });
  expect(runner.frames).toEqual([]);
});

it('cancels a body that cannot be sent', async () => {
  const runner = await startForTest();
  await runner.load({ 'a.ts': source });
  const id = runner.request('GET /texts');
  expect(await runner.next('result', id)).toMatchObject({ outcome: 'failed' });
  expect(await runner.log()).toMatchObject({ message: 'of no use' });
});

it('lets go of a response of which no more is asked for', async () => {
  const begun = Promise.withResolvers<void>();
  const sent: string[] = [];
  const send = ({ type }: { type: string }) => {
    sent.push(type);
    begun.resolve();
  };
  const responses = new ResponseSender({ send, sendText: () => expect.unreachable() }, 1);
  const invocations = new Invocations();
  const response = new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(2)) }));
  const run = invocations.run(
    1,
    (invocation) => responses.send(invocation, response, false),
    (_invocation, thrown) => expect.unreachable(String(thrown)),
  );
  await begun.promise;
  invocations.cancel(1);
  await run;
  expect(sent).toEqual(['response']);
});
