// Folders of type checks that a server left which was killed.
import { randomUUID } from 'node:crypto';
import { chown, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { makeCheckFolder, removeLeftChecks } from '../../../supervisor/hooks/check-folders.ts';

const isRoot = process.getuid?.() === 0;
const users = { first: 70_000, count: 10 };
const made: string[] = [];

afterEach(async () => {
  for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function make(dataDir: string, owner?: number): Promise<string> {
  const folder = await makeCheckFolder(dataDir);
  made.push(folder);
  await mkdir(join(folder, 'app'));
  await writeFile(join(folder, 'app/hooks.ts'), 'a secret of the app');
  if (owner !== undefined) await chown(folder, owner, 0);
  return folder;
}

const isThere = (path: string) => stat(path).then(() => true, () => false);

it('go with the next start of that server, and those of another stay', async () => {
  const [dataDir, other] = [`/data/${randomUUID()}`, `/data/${randomUUID()}`];
  const [own, foreign] = [await make(dataDir), await make(other)];
  await removeLeftChecks(dataDir, undefined);
  expect([await isThere(own), await isThere(foreign)]).toEqual([false, true]);
});

it.runIf(isRoot)(
  'go when they are of a user of runners, and stay when anybody else has made them',
  async () => {
    const dataDir = `/data/${randomUUID()}`;
    const of = (owner: number) => make(dataDir, owner);
    const slots = [await of(users.first), await of(users.first + users.count - 1)];
    const strangers = [await of(users.first - 1), await of(users.first + users.count)];
    await removeLeftChecks(dataDir, users);
    expect(await Promise.all([...slots, ...strangers].map(isThere))).toEqual([false, false, true, true]);
  },
);
