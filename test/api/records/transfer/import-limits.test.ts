// The limits of imports, and what others see of them.
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, type Caller, expectOk, serverUrl } from '../../../harness/api.ts';
import { type Scenario, scenario, titlesOf } from '../../../harness/scenario.ts';
import { watched } from '../../../harness/watched.ts';

const types = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
let made: Scenario;
let admin: Caller;
let collection = 0;

beforeAll(async () => {
  made = await scenario();
  ({ admin } = made);
});

/** A collection of a test's own. */
function orders(): Promise<string> {
  return made.define(`orders${collection++}`, [
    { name: 'title', kind: 'text', required: true },
    { name: 'total', kind: 'number' },
  ]);
}

function importing(
  records: string,
  body: string,
  query = '',
  type: string = types.csv,
): Promise<ApiResponse> {
  return admin.post(`${records}/import${query}`, body, { 'Content-Type': type });
}
const lines = (...objects: object[]) => objects.map((each) => JSON.stringify(each)).join('\n');
const titles = async (records: string) => titlesOf(await admin.get(`${records}?per_page=200`));

describe('an import', () => {
  it('keeps to the quotas of the app', async () => {
    const own = await scenario({ collections: { things: [{ name: 'n', kind: 'number' }] } });
    const things = own.records('things');
    await own.setQuota('records', 2_500);
    const many = Array.from({ length: 4_000 }, (_, n) => `{"n":${n}}`).join('\n');
    const send = (query = '') =>
      own.admin.post(`${things}/import${query}`, many, { 'Content-Type': types.ndjson });
    const refused = await send();
    expect([refused.status, refused.body.code]).toEqual([403, 'quota_exceeded']);
    expect((await own.admin.get(`${things}?per_page=1`)).body.total_items).toBe(0);
    const stopped = await send('?on_error=skip');
    expect([stopped.status, stopped.body.message]).toEqual([
      403,
      'quota.records allows 2500 records in the app; 2500 records have been created before',
    ]);
    expect((await own.admin.get(`${things}?per_page=1`)).body.total_items).toBe(2_500);
  });

  it('is the only one of its workspace, and leaves nothing behind when its client goes', async () => {
    const records = await orders();
    const url = new URL(`${serverUrl()}${records}/import`);
    const headers = { 'Content-Type': types.ndjson, Authorization: `Bearer ${admin.token}` };
    const rows = Array.from({ length: 1_500 }, (_, n) => `{"title":"t${n}"}\n`).join('');
    let second: ApiResponse;
    do {
      const open = request(url, { method: 'POST', headers });
      const closed = new Promise((resolve) => open.on('error', resolve).on('response', resolve));
      open.write(rows);
      // The other one may have come first.
      second = await importing(records, 'title\n');
      open.destroy();
      await closed;
    } while (second.status === 200);
    expect([second.status, second.headers.get('Retry-After')]).toEqual([429, '5']);
    while ((await importing(records, 'title\n')).status === 429);
    expect(await titles(records)).toEqual([]);
  });

  it('ends after the time that policy import.max_sec allows', async () => {
    const records = await orders();
    const policy = `${made.app.path}/policies/import.max_sec`;
    expectOk(await made.workspace.admin.put(policy, { kind: 'range', min: 1, max: 1 }));
    const url = new URL(`${serverUrl()}${records}/import`);
    const headers = { 'Content-Type': types.ndjson, Authorization: `Bearer ${admin.token}` };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const slow = request(url, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
        clearInterval(timer);
        slow.end();
      });
      slow.on('error', reject);
      const chunk = Array.from({ length: 1_100 }, (_, n) => `{"title":"t${n}"}\n`).join('');
      const timer = setInterval(() => slow.write(chunk), 200);
    });
    expectOk(await made.workspace.admin.delete(policy));
    expect(status).toBe(413);
    expect(await titles(records)).toEqual([]);
  });
});

describe('what others see', () => {
  it('is everything at once, in lists, totals and single records that were read before', async () => {
    const records = await orders();
    const id = randomUUID();
    expect((await admin.get(`${records}/${id}`)).status).toBe(404);
    expect((await admin.get(`${records}?filter=total%20%3D%209`)).body.total_items).toBe(0);
    expectOk(await importing(records, lines({ id, title: 'one', total: 9 }), '', types.ndjson));
    expect((await admin.get(`${records}/${id}`)).body.fields.title).toBe('one');
    expect((await admin.get(`${records}?filter=total%20%3D%209`)).body.total_items).toBe(1);
  });

  it('is a reset on streams, also on those that come back later, and no event', async () => {
    const orders = await watched(made);
    const client = await orders.watch();
    await orders.create({ title: 'before' });
    await client.count(1);
    const { lastEventId } = client;
    const csv = 'title\none\ntwo\n';
    expectOk(await importing(orders.records, csv, '?dry_run=true'));
    expect((await importing(orders.records, 'title,nope\none\n')).status).toBe(400);
    expectOk(await importing(orders.records, csv));
    await orders.create({ title: 'after' });
    await client.count(3);
    expect(client.events.map(({ event }) => event)).toEqual(['record_created', 'reset', 'record_created']);
    const later = await orders.watch({ since: lastEventId });
    await later.count(1);
    expect(later.events.map(({ event }) => event)).toEqual(['reset']);
    const again = await orders.watch({ since: client.lastEventId });
    await orders.create({ title: 'last' });
    await again.count(1);
    expect(again.events.map(({ event }) => event)).toEqual(['record_created']);
    for (const { socket } of [client, later, again]) socket.destroy();
  });

  it('runs no hooks', async () => {
    const own = await scenario({
      collections: { things: [{ name: 'title', kind: 'text' }] },
      hooks: { 'veto.js': `onRecordBeforeCreate('things', () => false);` },
    });
    const things = own.records('things');
    expect((await own.admin.post(things, { title: 'x' })).status).toBe(400);
    expectOk(await own.admin.post(`${things}/import`, 'title\nx\n', { 'Content-Type': types.csv }));
    expect((await own.admin.get(things)).body.total_items).toBe(1);
  });
});
