// The runner's end of the channel: frames however they come, and its end with the API.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { encodeFrame } from '../harness/frame.ts';
import { frameReader, frameWriter } from '../../hook-runner/channel.ts';
import type { FromRunner, ToRunner } from '../../hook-runner/protocol.ts';
import { framesFolder, order, startForTest } from './runner.ts';

/** A conversation as it went over the wire once: what each end said, in order. */
type Recorded = ({ to: 'runner'; frame: ToRunner } | { to: 'api'; frame: FromRunner })[];

describe('the channel of the hook runner', () => {
  it('says what it said when the conversation was recorded', async () => {
    const recorded: Recorded = JSON.parse(await readFile(`${framesFolder}conversation.json`, 'utf8'));
    const runner = await startForTest();
    for (const { to, frame } of recorded) {
      if (to === 'runner') runner.send(frame);
      else if (frame.type !== 'ready') expect(await runner.next(frame.type)).toEqual(frame);
    }
    expect(runner.frames).toEqual([]);
  });

  it('takes frames in whatever pieces they come', async () => {
    const runner = await startForTest();
    await runner.load({ 'a.ts': `onRecordBeforeCreate('orders', (e) => { e.record.fields.total = 1; });` });
    const frames = [501, 502, 503].map((id) =>
      encodeFrame({
        type: 'event',
        id,
        event: 'before_create',
        collection: 'orders',
        record: { ...order, fields: { title: 'grüße', total: id } },
        previous: null,
        auth: null,
        request_id: 'r',
      })
    );
    for (const byte of Buffer.concat(frames)) runner.sendBytes(Uint8Array.of(byte));
    for (const id of [501, 502, 503]) {
      expect(await runner.next('result', id)).toMatchObject({ changes: { total: 1 } });
    }
    runner.sendBytes(Buffer.concat(frames.map((frame) => Buffer.from(frame))));
    for (const id of [501, 502, 503]) await runner.next('result', id);
  });

  it('takes a body of 8 MiB', async () => {
    const runner = await startForTest();
    await runner.load({
      'a.ts': `routerAdd('POST', '/x', async (e) => (await e.request.arrayBuffer()).byteLength);`,
    });
    const base64 = Buffer.alloc(8 * 1024 * 1024, 255).toString('base64');
    const id = runner.request('POST /x', { body: { base64 } });
    expect(await runner.next('response', id)).toMatchObject({ body: { text: String(8 * 1024 * 1024) } });
  });

  it('takes frames in pieces of any length', () => {
    const texts = ['{"n":1}', '{"text":"grüße"}', '{"n":3}'];
    const bytes = Uint8Array.from(Buffer.concat(texts.map((text) => encodeFrame(JSON.parse(text)))));
    for (let length = 1; length <= bytes.length; length++) {
      const taken: string[] = [];
      const read = frameReader((text) => taken.push(text), () => expect.unreachable('it is no end'));
      for (let at = 0; at < bytes.length; at += length) read(bytes.slice(at, at + length));
      expect(taken, `in pieces of ${length}`).toEqual(texts);
    }
  });

  it('leaves alone what the system has not taken yet', () => {
    const pieces: Uint8Array[] = [];
    const takes = [true, false, true, false, false];
    const write = frameWriter((bytes) => {
      const isTaken = takes[pieces.length] ?? false;
      pieces.push(isTaken ? bytes.slice() : bytes);
      return isTaken;
    });
    const texts = Array.from(
      { length: 60 },
      (_, index) => JSON.stringify({ index, text: 'ü'.repeat(index * 30) }),
    );
    for (let from = 0; from < texts.length; from += 15) write(texts.slice(from, from + 15), 15);
    const told: string[] = [];
    const read = frameReader((text) => told.push(text), () => expect.unreachable('it is no end'));
    for (const piece of pieces) read(Uint8Array.from(piece));
    expect(told).toEqual(texts);
    expect(pieces.length).toBeLessThan(10);
  });

  it('says no more than the system takes soon, also in the turns of one task', async () => {
    const runner = await startForTest();
    await runner.load({
      'a.ts': `
        onRecordAfterCreate('orders', async () => {
          for (let line = 0; line < 2_000; line++) {
            console.log(String(line).padEnd(1_000));
            await null;
          }
        });`,
    });
    await runner.event('after_create');
    const lines = runner.frames.flatMap((frame) => frame.type === 'log' ? [Number(frame.message)] : []);
    expect(lines.length).toBeLessThan(1_000);
    expect(lines).toEqual(lines.map((_, index) => index));
  });

  it('answers a ping before its code has come', async () => {
    const runner = await startForTest();
    runner.send({ type: 'ping', id: 1 });
    await runner.next('pong', 1);
    expect((await runner.load({})).errors).toEqual([]);
  });

  it('answers a ping while a handler waits', async () => {
    const runner = await startForTest();
    await runner.load({ 'a.ts': `onRecordBeforeCreate('orders', () => new Promise(() => {}));` });
    runner.start('before_create');
    const id = runner.newId();
    runner.send({ type: 'ping', id });
    await runner.next('pong', id);
  });

  it('ends when the API is gone, whatever its hooks wait for', async () => {
    const runner = await startForTest();
    await runner.load({
      'a.ts': `setInterval(() => {}, 1000); onRecordBeforeCreate('orders', () => new Promise(() => {}));`,
    });
    runner.start('before_create');
    expect(await runner.close()).toBe(0);
  });

  it('ends at a frame that no API of ours would send', async () => {
    const tooLong = await startForTest();
    tooLong.sendBytes(Uint8Array.of(255, 255, 255, 255));
    await expect(tooLong.next('pong')).rejects.toThrow('gone');
    const early = await startForTest();
    early.start('before_create');
    await expect(early.next('result')).rejects.toThrow('gone');
    const notJson = await startForTest();
    notJson.sendBytes(Buffer.from('\0\0\0\x02{]'));
    await expect(notJson.next('pong')).rejects.toThrow('gone');
  });
});
