// Folders that are made once, by however many servers.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { contentName, makeOnce, removeOlder } from '../../../supervisor/hooks/made-once.ts';

let place = '';
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'bulkhead-once-'));
});
afterEach(() => rm(place, { recursive: true }));

const fill = async (folder: string) => {
  await mkdir(folder);
  await writeFile(join(folder, 'file'), 'whole');
};

describe('a folder that is made once', () => {
  it('is not made again', async () => {
    const make = vi.fn(fill);
    await makeOnce(join(place, 'home'), make);
    await makeOnce(join(place, 'home'), make);
    expect(make).toHaveBeenCalledTimes(1);
    expect(await readdir(place)).toEqual(['home']);
  });

  it('may be made by another server meanwhile', async () => {
    await makeOnce(join(place, 'home'), async (draft) => {
      await fill(draft);
      await fill(join(place, 'home'));
    });
    expect(await readdir(place)).toEqual(['home']);
  });

  it('leaves nothing when it cannot be made', async () => {
    const full = new Error('no space left');
    const making = makeOnce(join(place, 'home'), async (draft) => {
      await fill(draft);
      throw full;
    });
    await expect(making).rejects.toBe(full);
    expect(await readdir(place)).toEqual([]);
  });

  it('has another name when what it is made of changes, and takes the place of those before it', async () => {
    const file = join(place, 'file');
    await writeFile(file, 'one');
    const first = join(place, `kind-${await contentName([file])}`);
    await writeFile(file, 'another');
    const second = join(place, `kind-${await contentName([file])}`);
    const kept = ['kind-of-another-sort', 'other-0123456789abcdef', 'file'];
    for (const name of [...kept.slice(0, 2), 'kind-0123456789abcdef.17']) await mkdir(join(place, name));
    for (const home of [first, second]) await makeOnce(home, fill);
    await removeOlder(second, 'kind-');
    expect((await readdir(place)).sort()).toEqual([...kept, second.slice(place.length + 1)].sort());
  });
});
