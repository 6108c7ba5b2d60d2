// What is read of a folder of hook files that somebody fills without asking.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readFolder } from '../../../../api/hooks/files/folder.ts';

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
