// How a file is found that takes its runner down, with runners that the test speaks for.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Generation, LoadFailed } from '../../../../api/hooks/pool/generation.ts';
import { RunnerRefused } from '../../../../api/hooks/pool/host.ts';
import { Suspects } from '../../../../api/hooks/pool/quarantine.ts';
import { type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';

let own: OwnHooks;
/** A runner that loads one of these ends. */
let bad: readonly string[] = [];
/** What each runner was given. */
let loads: string[][] = [];

beforeAll(async () => {
  own = await ownHooks({
    settings: { max_runners: 1 },
    speaker: (message, say) => {
      if (message.type !== 'load') return;
      const { id, files: given } = message;
      const names = given.map(({ file }) => file);
      loads.push(names);
      const files = names.map((file) => ({ file, hooks: [], routes: [], jobs: [] }));
      const isBad = names.some((name) => bad.includes(name));
      say(isBad ? { type: 'nonsense' } : { type: 'loaded', id, files, errors: [] });
    },
  });
});
afterAll(() => own.end());

/** Hooks of a new app with files of these names, which are loaded. */
async function load(id: string, names: readonly string[]) {
  loads = [];
  const hooks = await own.app(id, Object.fromEntries(names.map((name) => [name, ''])));
  return { hooks, answer: await hooks.reload(true) };
}

const blamed = (file: string) => expect.objectContaining({ file });

it('is found with one runner at a time', async () => {
  const names = ['a.js', 'b.js', 'c.js', 'd.js'];
  bad = ['c.js'];
  const { hooks, answer } = await load('one', names);
  expect(answer).toEqual({ loaded: ['a.js', 'b.js', 'd.js'], errors: [blamed('c.js')] });
  expect(loads).toEqual([names, names, ['a.js', 'b.js'], ['a.js', 'b.js', 'c.js'], ['a.js', 'b.js', 'd.js']]);
  expect(hooks.live?.isOpen).toBe(true);
});

it('is one of two at most: with a third, nothing is loaded', async () => {
  bad = ['a.js', 'c.js'];
  const { answer } = await load('two', ['a.js', 'b.js', 'c.js']);
  expect(answer).toEqual({ loaded: ['b.js'], errors: [blamed('a.js'), blamed('c.js')] });
  bad = ['a.js', 'b.js', 'c.js'];
  const { hooks } = await load('three', ['a.js', 'b.js', 'c.js', 'd.js']);
  expect(hooks.known).toBeUndefined();
});

it('is looked for also among those that loaded once, when others have loaded since', async () => {
  bad = [];
  const { hooks } = await load('back', ['a.js']);
  await own.write('back', { 'a.js': '// another' });
  expect(await hooks.reload(true)).toEqual({ loaded: ['a.js'], errors: [] });
  bad = ['a.js'];
  await own.write('back', { 'a.js': '', 'b.js': '' });
  expect(await hooks.reload(true)).toEqual({ loaded: ['b.js'], errors: [blamed('a.js')] });
});

it('gets another chance when somebody says so', async () => {
  bad = ['a.js'];
  const { hooks, answer } = await load('again', ['a.js', 'b.js']);
  expect(answer).toEqual({ loaded: ['b.js'], errors: [blamed('a.js')] });
  bad = [];
  expect(await hooks.reload(false)).toEqual(answer);
  expect(await hooks.reload(true)).toEqual({ loaded: ['a.js', 'b.js'], errors: [] });
});

it('is none where there was no runner to find it with', async () => {
  const suspects = new Suspects();
  const files = ['a.js', 'b.js', 'c.js'].map((file) => ({ file, source: '' }));
  const failures = [new LoadFailed('crashed', true), new LoadFailed('crashed', true)];
  const full = new RunnerRefused('full', 1_000, 'there are too many');
  const start = (): Promise<Generation> => Promise.reject(failures.shift() ?? full);
  await expect(suspects.open(files, start)).rejects.toBe(full);
  expect(suspects.faults(files)).toEqual([]);
});
