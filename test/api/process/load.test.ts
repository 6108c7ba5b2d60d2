// Who lets whom pass.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Traffic } from '../../../api/process/load.ts';

it('has nobody wait when no request is being answered', () => {
  const traffic = new Traffic(Date.now);
  expect(traffic.lull()).toBeUndefined();
  traffic.arrived(Date.now());
  traffic.answered();
  expect(traffic.lull()).toBeUndefined();
});

it('has those who can wait do so until the last request is answered', async () => {
  const traffic = new Traffic(() => 1_000);
  const passed: string[] = [];
  traffic.arrived(1_000);
  traffic.arrived(1_000);
  const waiting = Promise.all(['one', 'two'].map(async (name) => {
    await traffic.lull();
    passed.push(name);
  }));
  traffic.answered();
  await nextTurn();
  expect(passed).toEqual([]);
  traffic.answered();
  await waiting;
  expect(passed).toEqual(['one', 'two']);
  expect(traffic.lull()).toBeUndefined();
});

it('has nobody wait for a request that takes long', async () => {
  const clock = { now: 1_000 };
  const traffic = new Traffic(() => clock.now);
  traffic.arrived(clock.now);
  // It is never answered; the wait ends by itself.
  await traffic.lull();
  clock.now += 11;
  expect(traffic.lull()).toBeUndefined();
  traffic.arrived(clock.now);
  expect(traffic.lull()).toBeInstanceOf(Promise);
});

it('has those who can wait rest while requests keep coming, until they come no more', async () => {
  const clock = { now: 1_000 };
  const traffic = new Traffic(() => clock.now);
  const serve = (milliseconds: number) => {
    clock.now += milliseconds;
    traffic.arrived(clock.now);
    traffic.answered();
  };
  for (let count = 0; count < 5; count++) serve(10);
  expect(traffic.lull()).toBeUndefined();
  for (let count = 0; count < 10; count++) serve(10);
  expect(traffic.lull()).toBeInstanceOf(Promise);
  await traffic.lull();
  clock.now += 99;
  expect(traffic.lull()).toBeInstanceOf(Promise);
  clock.now += 1;
  expect(traffic.lull()).toBeUndefined();
});

it('has nobody rest for requests that come now and then', () => {
  const clock = { now: 1_000 };
  const traffic = new Traffic(() => clock.now);
  for (let count = 0; count < 50; count++) {
    clock.now += 30;
    traffic.arrived(clock.now);
    traffic.answered();
    expect(traffic.lull()).toBeUndefined();
  }
  for (let count = 0; count < 5; count++) traffic.arrived(clock.now);
  for (let count = 0; count < 5; count++) traffic.answered();
  // Many at once, and then nothing for long.
  clock.now += 1_000;
  traffic.arrived(clock.now);
  traffic.answered();
  expect(traffic.lull()).toBeUndefined();
});
