// Files that end their runner while they load, with runners that the test speaks for.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Generation } from '../../../../api/hooks/pool/generation.ts';
import { RunnerRefused } from '../../../../api/hooks/pool/host.ts';
import { LoadFailed } from '../../../../api/hooks/pool/load.ts';
import { Quarantine } from '../../../../api/hooks/pool/quarantine.ts';
import { type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';

let own: OwnHooks;
/** A runner ends in these. */
let bad: readonly string[] = [];
/** Files that a runner says to be under way, in place of those that end it. */
let underWay: readonly string[] | undefined;
/** The files that each runner was given. */
let loads: string[][] = [];

beforeAll(async () => {
  own = await ownHooks({
    // Of one app that is loaded: the one before, and the one that is tried.
    settings: { max_runners: 4 },
    speaker: (message, say) => {
      if (message.type !== 'load') return;
      const { id, files: given } = message;
      const names = given.map(({ file }) => file);
      loads.push(names);
      const found = names.find((name) => bad.includes(name));
      say({ type: 'loading', id, files: names.slice(0, 1) });
      if (found === undefined) {
        const files = names.map((file) => ({ file, hooks: [], routes: [], jobs: [] }));
        return say({ type: 'loaded', id, files, errors: [] });
      }
      say({ type: 'loading', id, files: underWay ?? [found] });
      say({ type: 'nonsense' });
    },
  });
});
afterAll(() => own.end());

/** Hooks of a new app with files of these names, which are loaded. */
async function load(id: string, names: readonly string[]) {
  loads = [];
  const hooks = await own.app(id, Object.fromEntries(names.map((name) => [name, ''])));
  return { hooks, response: await hooks.reload(true) };
}

const named = (file: string) => expect.objectContaining({ file });

it('leaves out the file that the runner named, when it named it twice', async () => {
  const names = ['a.js', 'b.js', 'c.js', 'd.js'];
  bad = ['c.js'];
  const { hooks, response } = await load('one', names);
  expect(response).toEqual({ loaded: ['a.js', 'b.js', 'd.js'], errors: [named('c.js')] });
  expect(loads).toEqual([names, names, ['a.js', 'b.js', 'd.js']]);
  expect(hooks.live?.isOpen).toBe(true);
});

it('leaves out two files at most: with a third, nothing is loaded', async () => {
  bad = ['a.js', 'c.js'];
  const { response } = await load('two', ['a.js', 'b.js', 'c.js']);
  expect(response).toEqual({ loaded: ['b.js'], errors: [named('a.js'), named('c.js')] });
  bad = ['a.js', 'b.js', 'c.js'];
  const { hooks } = await load('three', ['a.js', 'b.js', 'c.js', 'd.js']);
  expect(hooks.registrations).toBeUndefined();
});

it('leaves out a file at once where the app has loaded before, and keeps the others', async () => {
  bad = [];
  const { hooks } = await load('back', ['a.js']);
  bad = ['b.js'];
  loads = [];
  await own.write('back', { 'b.js': '' });
  expect(await hooks.reload(true)).toEqual({ loaded: ['a.js'], errors: [named('b.js')] });
  expect(loads).toEqual([['a.js', 'b.js'], ['a.js']]);
});

it('refuses the load and names all files that were under way, and what ran before goes on', async () => {
  bad = [];
  const { hooks } = await load('several', ['a.js']);
  const { live } = hooks;
  bad = ['c.js'];
  underWay = ['b.js', 'c.js'];
  try {
    await own.write('several', { 'b.js': '', 'c.js': '' });
    expect(await hooks.reload(true)).toEqual({ loaded: ['a.js'], errors: [named('b.js'), named('c.js')] });
  } finally {
    underWay = undefined;
  }
  expect(hooks.live).toBe(live);
  expect(live?.isOpen).toBe(true);
});

it('ends what ran of a file that is deleted, though nothing of the others loads', async () => {
  bad = [];
  const { hooks } = await load('deleted', ['a.js']);
  await rm(join(own.folder('deleted'), 'a.js'));
  bad = ['c.js'];
  underWay = ['b.js', 'c.js'];
  try {
    await own.write('deleted', { 'b.js': '', 'c.js': '' });
    expect(await hooks.reload(true)).toEqual({ loaded: [], errors: [named('b.js'), named('c.js')] });
  } finally {
    underWay = undefined;
  }
  expect([hooks.live, hooks.registrations]).toEqual([undefined, undefined]);
});

it('gives a file another chance when it is asked to', async () => {
  bad = ['a.js'];
  const { hooks, response } = await load('again', ['a.js', 'b.js']);
  expect(response).toEqual({ loaded: ['b.js'], errors: [named('a.js')] });
  bad = [];
  expect(await hooks.reload(false)).toEqual(response);
  expect(await hooks.reload(true)).toEqual({ loaded: ['a.js', 'b.js'], errors: [] });
});

it('leaves out nothing when there was no runner for the second time', async () => {
  const quarantine = new Quarantine();
  const files = ['a.js', 'b.js', 'c.js'].map((file) => ({ file, source: '' }));
  const failures = [new LoadFailed('crashed', { isOfCode: true, files: ['a.js'] })];
  const full = new RunnerRefused('full', 1_000, 'there are too many');
  const start = (): Promise<Generation> => Promise.reject(failures.shift() ?? full);
  await expect(quarantine.open(files, start)).rejects.toBe(full);
  expect(quarantine.faults(files)).toEqual([]);
});
