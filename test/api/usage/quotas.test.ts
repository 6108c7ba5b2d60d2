// Quotas: limits on the data of an app and on its requests.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type ApiResponse,
  as,
  type Caller,
  expectOk,
  type OwnApp,
  type OwnWorkspace,
  serverUrl,
} from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { put } from '../../harness/file-app.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';
import { freshEmail } from '../../harness/users.ts';

let own: OwnWorkspace;
let app: OwnApp;
let admin: Caller;
let records: string;
let setQuota: Scenario['setQuota'];

beforeEach(async () => {
  const fields = [{ name: 'title', kind: 'text', unique: true }, { name: 'body', kind: 'text' }];
  const shop = await scenario({ collections: { notes: fields } });
  ({ workspace: own, app, admin, setQuota } = shop);
  records = shop.records('notes');
  const profiles = { id: 'members', kind: 'auth', fields: [{ name: 'nick', kind: 'text' }] };
  expectOk(await admin.post(`${app.path}/collections`, { schema: profiles }));
});

function create(title?: string): Promise<ApiResponse> {
  return admin.post(records, title === undefined ? {} : { title });
}

function statuses(responses: readonly ApiResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function usage() {
  return expectOk(await own.admin.get(`${app.path}/usage`));
}

describe('quota.records', () => {
  it('refuses the record above it with 403 that names it, and takes one again once one is deleted', async () => {
    await setQuota('records', 2);
    const first = expectOk(await create());
    expectOk(await create());
    const refused = await create();
    expectError(refused, 403, 'quota_exceeded');
    expect(refused.body.message).toBe('quota.records allows 2 records in the app');
    expectOk(await admin.patch(`${records}/${first.id}`, { title: 'still' }));
    expectOk(await admin.delete(`${records}/${first.id}`));
    expectOk(await create());
    expectError(await create(), 403, 'quota_exceeded');
    expect(await usage()).toMatchObject({ records: 2, quotas: { records: 2 } });
  });

  it('is never exceeded by writers that race, and writes that fail release their claims', async () => {
    await setQuota('records', 25);
    expectOk(await create('taken'));
    const racers = Array.from({ length: 60 }, (_unused, n) => create(n % 3 === 0 ? 'taken' : undefined));
    const { 201: made = 0, 409: doubled = 0, 403: refused = 0 } = statuses(await Promise.all(racers));
    expect(made).toBeLessThanOrEqual(24);
    expect(made + doubled + refused).toBe(60);
    // A write that fails has had its place while it was under way, and no longer.
    for (let left = 24 - made; left > 0; left--) expectOk(await create());
    expectError(await create(), 403, 'quota_exceeded');
    expect((await usage()).records).toBe(25);
  });

  it('counts every create of a batch, which happens as a whole or not', async () => {
    await setQuota('records', 3);
    const requests = (many: number) =>
      Array.from({ length: many }, () => ({ method: 'POST', collection: 'notes', body: {} }));
    expectOk(await admin.post(`${app.path}/batch`, { requests: requests(2) }));
    expectError(await admin.post(`${app.path}/batch`, { requests: requests(2) }), 403, 'quota_exceeded');
    expectOk(await admin.post(`${app.path}/batch`, { requests: requests(1) }));
    expect((await usage()).records).toBe(3);
  });

  it('applies to writes of hooks, which get the code', async () => {
    await setQuota('records', 1);
    const source = `routerAdd('POST', '/two', async () => {
      await $app.records.create('notes', {});
      try { await $app.records.create('notes', {}); return 'both'; } catch (error) { return { code: error.code }; }
    });`;
    expect(expectOk(await admin.put(`${app.path}/hooks/a.ts`, { source })).reload.errors).toEqual([]);
    expect(expectOk(await admin.post(`${app.path}/custom/two`, {}))).toEqual({ code: 'quota_exceeded' });
    expect((await usage()).records).toBe(1);
  });

  it('of a workspace bounds each of its apps by itself, and is lifted with the policy', async () => {
    await setQuota('records', 1, own.path);
    expectOk(await create());
    expectError(await create(), 403, 'quota_exceeded');
    const other = await own.app();
    const schema = { id: 'notes', kind: 'base', fields: [] };
    expectOk(await other.admin.post(`${other.path}/collections`, { schema }));
    expectOk(await other.admin.post(`${other.path}/collections/notes/records`, {}));
    expectOk(await own.admin.delete(`${own.path}/policies/quota.records`));
    expectOk(await create());
    expect((await usage()).quotas.records).toBeNull();
  });
});

describe('quota.storage_mb', () => {
  const megabyte = 1_048_576;

  /** Uploads a file; a stream does not announce its length. */
  async function send(body: Buffer | ReadableStream): Promise<[status: number, body: unknown]> {
    const response = await fetch(`${serverUrl()}${app.path}/files`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${admin.token}`, 'Content-Type': 'application/octet-stream' },
      body,
      ...(body instanceof Buffer ? {} : { duplex: 'half' }),
    });
    return [response.status, await response.json()];
  }

  it('refuses the file that does not fit with 413, with and without an announced length', async () => {
    const { database_bytes: tables } = await usage();
    await setQuota('storage_mb', 2);
    const fits = Buffer.alloc(2 * megabyte - tables - 600_000);
    expect((await put(admin, app, fits)).status).toBe(201);
    for (const body of [Buffer.alloc(700_000), new Blob([Buffer.alloc(700_000)]).stream()]) {
      expect(await send(body)).toEqual([413, {
        code: 'quota_exceeded',
        message: 'quota.storage_mb allows 2 MB of tables and files',
      }]);
    }
    // Those had their room while they were under way, and no longer.
    expect((await put(admin, app, Buffer.alloc(400_000))).status).toBe(201);
    const { database_bytes, file_bytes } = await usage();
    expect(database_bytes + file_bytes).toBeLessThanOrEqual(2 * megabyte);
  });

  it('is not what refuses a file that is too large to be sent at all', async () => {
    await setQuota('storage_mb', 10);
    const cap = { kind: 'range', min: 0, max: 1 };
    expectOk(await own.admin.put(`${app.path}/policies/storage.max_upload_mb`, cap));
    for (const body of [Buffer.alloc(megabyte + 1), new Blob([Buffer.alloc(megabyte + 1)]).stream()]) {
      expect(await send(body)).toMatchObject([413, { code: 'payload_too_large' }]);
    }
    expect((await put(admin, app, Buffer.alloc(megabyte))).status).toBe(201);
  });

  it('is never exceeded by uploads that race', async () => {
    const { database_bytes: tables } = await usage();
    await setQuota('storage_mb', 2);
    const room = Math.floor((2 * megabyte - tables) / 200_000);
    const responses = await Promise.all(
      Array.from({ length: room + 8 }, () => put(admin, app, Buffer.alloc(200_000))),
    );
    const stored = responses.filter(({ status }) => status === 201).length;
    expect(stored).toBe(room);
    expect((await usage()).file_bytes).toBe(room * 200_000);
  });

  it('of a workspace is what all its apps may take up together (finding 16 of the attack: no quota was set)', async () => {
    const shown = async () => expectOk(await own.admin.get(`${own.path}/usage`));
    const { quotas, database_bytes: before } = await shown();
    expect(quotas.storage_mb).toBe(10_240);
    const other = await own.app();
    const room = Math.ceil(before / megabyte) + 4;
    await setQuota('storage_mb', room, own.path);
    const responses = [];
    for (let count = 0; count < 6; count++) {
      responses.push(await put(own.admin, count % 2 === 0 ? app : other, Buffer.alloc(megabyte)));
    }
    expect(responses.map(({ status }) => status)).toContain(201);
    const refused = responses.find(({ status }) => status !== 201);
    expect(refused?.status).toBe(413);
    expect(await refused?.json()).toEqual({
      code: 'quota_exceeded',
      message: `quota.storage_mb allows ${room} MB of tables and files in the workspace`,
    });
    const { database_bytes, file_bytes } = await shown();
    expect(database_bytes + file_bytes).toBeLessThanOrEqual(room * megabyte);
  });

  it('refuses records too, and lets them be deleted', async () => {
    const { id } = expectOk(await create());
    await setQuota('storage_mb', 0);
    expectError(await create(), 413, 'quota_exceeded');
    expectError(await admin.patch(`${records}/${id}`, { body: 'more' }), 413, 'quota_exceeded');
    expectOk(await admin.delete(`${records}/${id}`));
  });
});

describe('quota.users', () => {
  const password = 'a password of somebody';
  const register = () => as().post(`${own.path}/auth/users/register`, { email: freshEmail(), password });

  it('holds exactly, however many register at once', async () => {
    await setQuota('users', 3, own.path);
    const responses = await Promise.all(Array.from({ length: 8 }, register));
    expect(statuses(responses)).toEqual({ 201: 3, 403: 5 });
    const refused = await register();
    expectError(refused, 403, 'quota_exceeded');
    expect(refused.body.message).toBe('quota.users allows 3 users in the workspace');
    expect(await usage()).toMatchObject({ users: 3, quotas: { users: 3 } });
  });

  it('does not tell a caller whom the rule refuses who is registered', async () => {
    const email = freshEmail();
    expectOk(await as().post(`${own.path}/auth/users/register`, { email, password }));
    await setQuota('users', 1, own.path);
    const rule = { template: 'filter', filter: "nick = 'right'" };
    expectOk(await admin.put(`${app.path}/collections/members/access_rules/create`, rule));
    const responses = await Promise.all(
      [email, freshEmail()].map((address) =>
        as().post(`${app.path}/collections/members/records`, { email: address, nick: 'wrong' })
      ),
    );
    for (const response of responses) expectError(response, 401, 'unauthorized');
  });

  it('binds profiles that make a user, and none of somebody who is one', async () => {
    const email = freshEmail();
    expectOk(await as().post(`${own.path}/auth/users/register`, { email, password }));
    await setQuota('users', 1, own.path);
    const members = `${app.path}/collections/members/records`;
    expectError(await admin.post(members, { email: freshEmail() }), 403, 'quota_exceeded');
    expectOk(await admin.post(members, { email }));
    expect(await usage()).toMatchObject({ users: 1, records: 1 });
  });

  it('applies to a first sign-in by a mailed code', async () => {
    const email = freshEmail();
    expectOk(await as().post(`${own.path}/auth/otp/request`, { email }));
    const code = await secretFor(email);
    await setQuota('users', 0, own.path);
    expectError(await as().post(`${own.path}/auth/otp/login`, { email, code }), 403, 'quota_exceeded');
    expect((await usage()).users).toBe(0);
  });
});

describe('a quota', () => {
  it('lies within that of the level above', async () => {
    await setQuota('records', 10, own.path);
    const wider = { kind: 'range', min: 0, max: 11 };
    expectError(await own.admin.put(`${app.path}/policies/quota.records`, wider), 400, 'policy_violation');
  });
});
