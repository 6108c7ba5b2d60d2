// The turns of one app: what holds one, what gives it back, and that each has a place among those of all apps.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Crowd } from '../../../../api/hooks/pool/call-slots.ts';
import { Turns } from '../../../../api/hooks/pool/app-slots.ts';

const busy = expect.objectContaining({ code: 'hook_busy' });

it('an answer that streams gives its turn back, and at most 64 of an app do', async () => {
  const turns = new Turns(new Crowd(), 'a');
  for (let stream = 0; stream < 64; stream++) {
    expect(turns.take()).toBeUndefined();
    turns.stream();
  }
  expect(turns.take()).toBeUndefined();
  expect(() => turns.stream()).toThrow(busy);
  turns.endStream();
  turns.stream();
  for (let turn = 0; turn < 32; turn++) expect(turns.take()).toBeUndefined();
  // That of the one which was refused was kept until it could stream.
  let isTaken = false;
  void turns.take()?.then(() => isTaken = true);
  await nextTurn();
  expect(isTaken).toBe(false);
});

it('a turn that was waited for has its place too', async () => {
  const crowd = new Crowd();
  const turns = new Turns(crowd, 'a');
  const taken = Array.from({ length: 64 }, () => turns.take());
  for (let turn = 0; turn < 32; turn++) turns.give();
  await Promise.all(taken);
  // 128 of one workspace: 32 are taken.
  const others = Array.from({ length: 97 }, () => crowd.take('a'));
  expect(others.filter((place) => place === undefined)).toHaveLength(96);
});

it('answers that stream are counted for their workspace also when it does nothing else', () => {
  const crowd = new Crowd();
  for (let stream = 0; stream < 128; stream++) expect(crowd.stream('a')).toBe(true);
  expect(crowd.take('a')).toBeUndefined();
  crowd.give('a');
  expect(crowd.stream('a')).toBe(false);
});
