// Imports of records that hold files.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type ApiResponse, expectOk } from '../../../harness/api.ts';
import { upload } from '../../../harness/file-app.ts';
import { scenario, title, titlesOf } from '../../../harness/scenario.ts';

const { app, admin, records } = await scenario({
  collections: {
    scans: [
      title,
      { name: 'scan', kind: 'file', max_size: 3 },
      { name: 'pictures', kind: 'file', many: true, mime: ['image/*'] },
      { name: 'other', kind: 'file' },
    ],
  },
});
const scans = records('scans');

const importing = async (query: string, ...lines: object[]): Promise<ApiResponse> =>
  await admin.post(`${scans}/import${query}`, lines.map((line) => JSON.stringify(line)).join('\n'), {
    'Content-Type': 'application/x-ndjson',
  });

it('refuses files that their fields do not take, by line', async () => {
  const [short, long, picture] = [
    (await upload(admin, app, '123')).id,
    (await upload(admin, app, '1234')).id,
    (await upload(admin, app, '1', { type: 'image/png' })).id,
  ];
  const lines = [
    { title: 'fits', scan: short, pictures: [picture], other: long },
    { title: 'long', scan: long },
    { title: 'text', pictures: [picture, short] },
    { title: 'none', scan: randomUUID() },
  ];
  const all = await importing('', ...lines);
  expect([all.status, all.body.errors.map(({ path }: { path: string }) => path)]).toEqual([
    400,
    ['line 2: scan', 'line 3: pictures', 'line 4: scan'],
  ]);
  expect(titlesOf(await admin.get(scans))).toEqual([]);
  const some = expectOk(await importing('?on_error=skip', ...lines));
  expect(some).toMatchObject({ created: 1, skipped: 3 });
  expect(some.errors.map(({ message }: { message: string }) => message)).toEqual([
    'the file has 4 bytes, and at most 3 are allowed',
    expect.stringContaining('must be of image/*'),
    expect.stringContaining('no file with this id'),
  ]);
  expect(titlesOf(await admin.get(scans))).toEqual(['fits']);
});
