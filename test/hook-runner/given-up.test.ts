// What hook code hears when nobody waits for it any more.
import { expect, it } from 'vitest';
import { Invocations } from '../../hook-runner/invocations.ts';
import { Responses } from '../../hook-runner/responses.ts';
import { startForTest } from './runner.ts';

const source = `
  onRecordAfterCreate('orders', async () => {
    try { await $app.records.list('orders'); } catch (error) { console.log('given up:', error.message); }
  });
  routerAdd('GET', '/stream', () => new Response(new ReadableStream({
    pull: (c) => c.enqueue(new Uint8Array(1_000)),
    cancel: () => console.log('not read'),
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

it('cancels the body of an answer that a HEAD does not get', async () => {
  const runner = await startForTest();
  await runner.load({ 'a.ts': source });
  const id = runner.request('GET /stream', { method: 'HEAD' });
  expect(await runner.next('response', id)).toMatchObject({ status: 200, body: null, end: true });
  expect(await runner.log()).toMatchObject({ message: 'not read' });
});

it('lets go of an answer of which no more is asked for', async () => {
  const begun = Promise.withResolvers<void>();
  const sent: string[] = [];
  const send = ({ type }: { type: string }) => {
    sent.push(type);
    begun.resolve();
  };
  const responses = new Responses({ send, sendText: () => expect.unreachable() }, 1);
  const invocations = new Invocations();
  const answer = new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(2)) }));
  const run = invocations.run(
    1,
    (invocation) => responses.send(invocation, answer, false),
    (_invocation, thrown) => expect.unreachable(String(thrown)),
  );
  await begun.promise;
  invocations.cancel(1);
  await run;
  expect(sent).toEqual(['response']);
});
