// What makes way for requests, and when.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Traffic } from '../../../api/process/load.ts';

it('has nothing wait when no request is under way', () => {
  const traffic = new Traffic(Date.now);
  expect(traffic.lull()).toBeUndefined();
  traffic.started(Date.now());
  traffic.ended();
  expect(traffic.lull()).toBeUndefined();
});

it('has work wait until the last request has ended', async () => {
  const traffic = new Traffic(() => 1_000);
  const passed: string[] = [];
  traffic.started(1_000);
  traffic.started(1_000);
  const waiting = Promise.all(['one', 'two'].map(async (name) => {
    await traffic.lull();
    passed.push(name);
  }));
  traffic.ended();
  await nextTurn();
  expect(passed).toEqual([]);
  traffic.ended();
  await waiting;
  expect(passed).toEqual(['one', 'two']);
  expect(traffic.lull()).toBeUndefined();
});

it('has nothing wait for a request that takes long', async () => {
  const clock = { now: 1_000 };
  const traffic = new Traffic(() => clock.now);
  traffic.started(clock.now);
  // It never ends; the wait ends by itself.
  await traffic.lull();
  clock.now += 11;
  expect(traffic.lull()).toBeUndefined();
  traffic.started(clock.now);
  expect(traffic.lull()).toBeInstanceOf(Promise);
});

it('has work pause in heavy traffic, until no more requests come', async () => {
  const clock = { now: 1_000 };
  const traffic = new Traffic(() => clock.now);
  const serve = (milliseconds: number) => {
    clock.now += milliseconds;
    traffic.started(clock.now);
    traffic.ended();
  };
  for (let count = 0; count < 5; count++) serve(10);
  expect(traffic.lull()).toBeUndefined();
  for (let count = 0; count < 10; count++) serve(10);
  expect(traffic.isHeavy()).toBe(true);
  expect(traffic.lull()).toBeInstanceOf(Promise);
  await traffic.lull();
  clock.now += 99;
  expect(traffic.lull()).toBeInstanceOf(Promise);
  clock.now += 1;
  expect(traffic.isHeavy()).toBe(false);
  expect(traffic.lull()).toBeUndefined();
});

it('has nothing pause for requests that come now and then', () => {
  const clock = { now: 1_000 };
  const traffic = new Traffic(() => clock.now);
  for (let count = 0; count < 50; count++) {
    clock.now += 30;
    traffic.started(clock.now);
    traffic.ended();
    expect(traffic.isHeavy()).toBe(false);
    expect(traffic.lull()).toBeUndefined();
  }
  for (let count = 0; count < 5; count++) traffic.started(clock.now);
  for (let count = 0; count < 5; count++) traffic.ended();
  // Many at once, and then nothing for long.
  clock.now += 1_000;
  traffic.started(clock.now);
  traffic.ended();
  expect(traffic.lull()).toBeUndefined();
});
