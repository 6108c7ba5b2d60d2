// What is read of a folder of hook files that somebody fills without asking.
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readFolder } from '../../../../api/hooks/files/folder.ts';

it('names the links that lie there, and follows none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bulkhead-folder-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'a.ts'), '');
  await symlink('/etc/hostname', join(folder, 'link.ts'));
  await symlink('/nowhere', join(folder, 'broken.js'));
  await symlink('/etc/hostname', join(folder, 'link.txt'));
  const read = await readFolder(folder);
  const fault = 'is a symbolic link, which is not followed';
  expect(read.map((file) => 'fault' in file ? [file.filename, file.fault] : [file.filename])).toEqual([
    ['a.ts'],
    ['broken.js', fault],
    ['link.ts', fault],
  ]);
});

it('is no more than 4 MiB: the files beyond them have a fault', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bulkhead-folder-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const name of ['a.js', 'b.js', 'c.js', 'd.js']) {
    await writeFile(join(folder, name), ' '.repeat(1_048_576));
  }
  for (const name of ['e.js', 'f.js']) await writeFile(join(folder, name), ' ');
  const read = await readFolder(folder);
  const faults = read.map((file) => 'fault' in file ? [file.filename, file.fault] : [file.filename]);
  const beyond = "is beyond the 4194304 bytes that an app's files may have together";
  expect(faults).toEqual([['a.js'], ['b.js'], ['c.js'], ['d.js'], ['e.js', beyond], ['f.js', beyond]]);
});
