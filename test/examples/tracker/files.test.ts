// The files of the example "tracker", and files of its records: members read the former, admins alone the latter.
import { describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { upload } from '../../harness/file-app.ts';
import { tracker, trackerCollections } from '../../harness/tracker.ts';

const app = await tracker();
const { records, app: { path } } = app;
const [ada, bob, eve] = [await app.person('Ada'), await app.person('Bob'), await app.person('Eve')];
const apollo = await app.project(ada, 'Apollo');
await app.join(ada, apollo, bob, 'member');
const file = await upload(ada, app.app, 'launch codes', { name: 'codes.txt', type: 'text/plain' });
await app.issue(ada, apollo, 'launch', { attachments: [file.id] });

describe('files', () => {
  it('are read by members, and by nobody else through any path', async () => {
    expectOk(await bob.get(`${path}/files/${file.id}`));
    const responses = [
      await eve.get(`${path}/files/${file.id}`),
      await eve.get(`${path}/files/${file.id}/meta`),
      await eve.post(`${path}/files/${file.id}/link`, {}),
      await eve.delete(`${path}/files/${file.id}`),
    ];
    for (const response of responses) {
      expectError(response, 403, 'forbidden');
      expect(response.text).not.toMatch(/codes|launch/);
    }
    expect(expectOk(await eve.get(`${path}/files`))).toMatchObject({ items: [], total_items: 0 });
    expectError(await as().get(`${path}/files/${file.id}`), 401, 'unauthorized');
  });
});

describe('files of records', () => {
  it.each(trackerCollections)('of %s are exported and imported by admins only', async (collection) => {
    for (const caller of [eve, bob]) {
      expectError(await caller.get(`${records(collection)}/export`), 403, 'forbidden');
      const line = await caller.post(`${records(collection)}/import`, '{}', {
        'Content-Type': 'application/x-ndjson',
      });
      expectError(line, 403, 'forbidden');
    }
  });
});
