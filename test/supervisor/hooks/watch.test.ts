// Hook files changing on disk, as the supervisor sees them.
import { appendFile, mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type HookChange, watchHooks } from '../../../supervisor/hooks/watch.ts';

let root = '';
let outside = '';
let changes: HookChange[] = [];
let stop = async () => {};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'bulkhead-watch-'));
  outside = await mkdtemp(join(tmpdir(), 'bulkhead-outside-'));
  await mkdir(join(root, 'acme', 'shop'), { recursive: true });
  await writeFile(join(root, 'acme', 'shop', 'main.ts'), '// first');
  changes = [];
  stop = await watchHooks({
    directory: root,
    onChange: (change) => changes.push(change),
    onError: (error) => {
      throw error;
    },
  });
});

afterEach(async () => {
  await stop();
  await rm(root, { recursive: true });
  await rm(outside, { recursive: true });
});

const shop = { workspace: 'acme', app: 'shop' };
const inShop = (name: string) => join(root, 'acme', 'shop', name);

/** Resolves when it was heard of, which must be within 500 ms. */
const heard = (...wanted: HookChange[]) =>
  vi.waitFor(() => expect(changes).toEqual(wanted), { timeout: 500, interval: 5 });

/** What must not be heard of is followed by a change that is. */
async function onlyTheNextIsHeard(): Promise<void> {
  await mkdir(join(root, 'acme', 'witness'), { recursive: true });
  await writeFile(join(root, 'acme', 'witness', 'main.ts'), '');
  await expect.poll(() => changes.at(-1)).toEqual({ workspace: 'acme', app: 'witness' });
  expect(changes).toEqual([{ workspace: 'acme', app: 'witness' }]);
}

describe('hook files', () => {
  it('are not told of when the watch begins', async () => {
    await onlyTheNextIsHeard();
  });

  it('that change, come or go are told of within 500 ms', async () => {
    await appendFile(inShop('main.ts'), '// more');
    await heard(shop);
    await writeFile(inShop('other.js'), '');
    await heard(shop, shop);
    await unlink(inShop('other.js'));
    await heard(shop, shop, shop);
  });

  it('saved by an editor, which writes beside them and renames, are told of once', async () => {
    await writeFile(inShop('.main.ts.swp'), 'swap');
    await writeFile(inShop('4913'), '');
    await unlink(inShop('4913'));
    await rename(inShop('main.ts'), inShop('main.ts~'));
    await writeFile(inShop('main.ts'), '// second');
    await unlink(inShop('main.ts~'));
    await heard(shop);
    await mkdir(join(root, 'acme', 'witness'));
    await writeFile(join(root, 'acme', 'witness', 'main.ts'), '');
    await heard(shop, { workspace: 'acme', app: 'witness' });
  });

  it('in folders that appear later are told of', async () => {
    await mkdir(join(root, 'fresh', 'app'), { recursive: true });
    await writeFile(join(root, 'fresh', 'app', 'main.ts'), '');
    await heard({ workspace: 'fresh', app: 'app' });
  });

  it.each([
    '.main.ts.swp',
    '.hidden.ts',
    'main.ts~',
    '#main.ts#',
    '4913',
    'notes.md',
    'main.ts.tmp',
    'node_modules/x.ts',
    'deeper/x.ts',
  ])('are not what %s is', async (name) => {
    await mkdir(join(inShop(name), '..'), { recursive: true });
    await writeFile(inShop(name), 'x');
    await onlyTheNextIsHeard();
  });

  it('hook.symlink: are not looked for behind symbolic links', async () => {
    await writeFile(join(outside, 'main.ts'), '');
    await symlink(outside, join(root, 'acme', 'linked'));
    await symlink(join(outside, 'main.ts'), inShop('linked.txt'));
    await appendFile(join(outside, 'main.ts'), '// changed');
    await onlyTheNextIsHeard();
  });
});
