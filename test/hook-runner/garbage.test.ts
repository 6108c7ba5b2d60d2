// What a runner does with bytes that no API of ours sends: it ends, or goes on as if they had not come; it never spins.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { encodeFrame } from '../harness/frame.ts';
import { numbersFrom } from '../harness/random-numbers.ts';
import { processorSeconds } from '../harness/processes.ts';
import { order, startForTest, type TestRunner } from './runner.ts';

const ping = (id: number) => encodeFrame({ type: 'ping', id });

/** Whether it still answers, or has ended. */
async function stateOf(runner: TestRunner): Promise<'answers' | 'has ended'> {
  const id = 4_000_000_000;
  runner.sendBytes(ping(id));
  return await runner.next('pong', id).then(() => 'answers', () => 'has ended');
}

const event = {
  type: 'event',
  event: 'before_create',
  collection: 'orders',
  record: order,
  previous: null,
  auth: null,
  request_id: 'r',
};

it('rpc.fuzz: 24 runners that are sent changed frames each end or answer', { timeout: 60_000 }, async () => {
  const random = numbersFrom(7);
  const states = new Set<string>();
  for (let round = 0; round < 24; round++) {
    const runner = await startForTest();
    await runner.load({ 'a.js': `onRecordBeforeCreate('orders', (e) => { e.record.fields.total = 1; });` });
    for (let sent = 0; sent < 2; sent++) {
      const frame = encodeFrame({ ...event, id: 10 + sent });
      // Lengths stay, so that what follows is read as what it is.
      const at = 4 + random(frame.length - 4);
      frame[at] = round % 2 === 0 ? random(256) : 0x20;
      runner.sendBytes(frame);
    }
    states.add(await stateOf(runner));
    await runner.kill();
  }
  expect([...states].sort()).toEqual(['answers', 'has ended']);
});

it('rpc.fuzz: a frame that stops half way costs a runner nothing, and its rest is taken whenever it comes', async () => {
  const runner = await startForTest();
  await runner.load({ 'a.js': `onRecordBeforeCreate('orders', (e) => { e.record.fields.total = 1; });` });
  const frame = encodeFrame({ ...event, id: 9 });
  const before = await processorSeconds(runner.pid);
  for (let at = 0; at < frame.length; at++) {
    runner.sendBytes(frame.subarray(at, at + 1));
    // Time in which a runner that spun would take a good part of a core, also on a machine that is busy.
    if (at % 64 === 0) await pause(250);
  }
  expect(await runner.next('result', 9)).toMatchObject({ outcome: 'done', changes: { total: 1 } });
  expect(await processorSeconds(runner.pid) - before).toBeLessThan(0.3);
  runner.sendBytes(frame.subarray(0, 40));
  expect(await runner.close()).toBe(0);
});
