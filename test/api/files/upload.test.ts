// Uploads: what is kept of them, under which name and type, and how much.
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { as, expectOk, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { fileApp, get, put, upload } from '../../harness/file-app.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { sendRaw } from '../../harness/raw-requests.ts';
import { quoteIdentifier } from '../../../storage/sql/quote.ts';
import { qualified } from '../../../storage/app/tables.ts';
import { ownUser } from '../../harness/users.ts';

const files = await fileApp();
const { app, user } = files;

describe('an upload', () => {
  it('is answered with what is known of the file, and read back byte for byte', async () => {
    const bytes = randomBytes(300_000);
    const file = await upload(user, app, bytes, { name: 'photo.png', type: 'image/png' });
    expect(file).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{14}7/),
      filename: 'photo.png',
      mime: 'image/png',
      size: 300_000,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(expectOk(await user.get(`${app.path}/files/${file.id}/meta`))).toEqual(file);
    const response = await get(user, `${app.path}/files/${file.id}`);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '300000',
      'x-filename': 'photo.png',
      'accept-ranges': 'bytes',
      'etag': `"${file.id}"`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    });
  });

  it('may be empty, and needs neither name nor type', async () => {
    const response = await fetch(`${serverUrl()}${app.path}/files`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${user.token}` },
    });
    const file = JSON.parse(await response.text());
    expect(file).toMatchObject({ filename: 'file', mime: 'application/octet-stream', size: 0 });
    expect(await (await get(user, `${app.path}/files/${file.id}`)).text()).toBe('');
  });

  it('keeps the last segment of its name, in at most 255 bytes, and without what deceives', async () => {
    const cases: [string, string][] = [
      ['report.pdf', 'report.pdf'],
      ['../../etc/passwd', 'passwd'],
      ['C:\\Users\\me\\plan.txt', 'plan.txt'],
      ['%C3%BCber%20uns.txt', 'über uns.txt'],
      ['100%.txt', '100%.txt'],
      ['100%25%20juice.txt', '100% juice.txt'],
      ['a%0d%0aSet-Cookie%3A%20x.txt', 'aSet-Cookie: x.txt'],
      ['invoice%E2%80%AEfdp.exe', 'invoicefdp.exe'],
      ['"quoted".txt', '"quoted".txt'],
      ['..', 'file'],
      ['a/', 'file'],
      [`${'x'.repeat(4_000)}.tar.gz`, `${'x'.repeat(252)}.gz`],
    ];
    for (const [sent, kept] of cases) {
      const file = await upload(user, app, 'x', { name: sent });
      expect([sent, file.filename]).toEqual([sent, kept]);
      const echoed = (await get(user, `${app.path}/files/${file.id}`)).headers.get('x-filename') ?? '';
      // What comes back is what one may send again, and what any client can decode.
      expect(decodeURIComponent(echoed)).toBe(kept);
      expect((await upload(user, app, 'x', { name: echoed })).filename).toBe(kept);
      expect(echoed).toMatch(/^[\x20-\x7e]+$/);
    }
  });

  it('is refused as a form, and with a type that is none', async () => {
    for (const type of ['multipart/form-data; boundary=x', 'html', 'text/html, text/plain, @']) {
      const response = await put(user, app, 'x', { type });
      expect([type, response.status]).toEqual([type, 400]);
      expect(await response.json()).toMatchObject({ code: 'validation' });
    }
  });

  it('is refused with an encoding, of which those who fetch it would not be told', async () => {
    const before = await files.blobs();
    const response = await put(user, app, 'x', { coding: 'gzip' });
    expect([response.status, await response.json()]).toMatchObject([400, {
      code: 'validation',
      message: 'Content-Encoding: send the bytes of the file as they are',
    }]);
    expect(await files.blobs()).toEqual(before);
    expect((await put(user, app, 'x', { coding: 'identity' })).status).toBe(201);
  });

  it('needs somebody who is signed in to the app', async () => {
    expect((await put(as(), app, 'x')).status).toBe(401);
    const elsewhere = await ownWorkspace();
    expect((await put(await ownUser(elsewhere), app, 'x')).status).toBe(403);
  });
});

describe('the cap of uploads', () => {
  const tenMegabytes = 10 * 1_048_576;

  it('is 10 MB by default, more than other bodies may have, and exact', async () => {
    expect((await upload(user, app, Buffer.alloc(tenMegabytes))).size).toBe(tenMegabytes);
    const response = await put(user, app, Buffer.alloc(tenMegabytes + 1));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'payload_too_large' });
  });

  it('ends an upload that announces more before any of it has come', async () => {
    const head = [
      `POST ${app.path}/files HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${user.token}`,
      `Content-Length: ${tenMegabytes + 1}`,
    ];
    const { status, text } = await sendRaw(serverUrl(), `${head.join('\r\n')}\r\n\r\n`, 'max_upload_mb');
    expect([status, text]).toEqual([413, expect.stringContaining('payload_too_large')]);
  });

  it('file.key-safety: is enforced while a body of unknown length streams, and nothing is left', async () => {
    const fresh = await files.own.app();
    expectOk(
      await fresh.admin.put(`${fresh.path}/policies/storage.max_upload_mb`, {
        kind: 'range',
        min: 0,
        max: 1,
      }),
    );
    const before = await files.blobs();
    const chunk = Buffer.alloc(65_536);
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(chunk),
    });
    const response = await fetch(`${serverUrl()}${fresh.path}/files`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${user.token}` },
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
    expect(expectOk(await fresh.admin.get(`${fresh.path}/files`)).total_items).toBe(0);
    expect(await files.blobs()).toEqual(before);
  });

  it('file.key-safety: an upload that is cut off half-way leaves neither row nor blob', async () => {
    const fresh = await files.own.app();
    const before = await files.blobs();
    const { hostname, port } = new URL(serverUrl());
    const request = httpRequest({
      hostname,
      port,
      method: 'POST',
      path: `${fresh.path}/files`,
      headers: { 'Authorization': `Bearer ${user.token}`, 'Content-Length': '1000000' },
    });
    const ended = new Promise((resolve) => request.once('error', resolve));
    request.write(Buffer.alloc(500_000));
    // Only what the server has begun to store can be cut off.
    await expect.poll(async () => (await files.blobs()).length).toBeGreaterThan(before.length);
    request.destroy();
    await ended;
    await expect.poll(files.blobs).toEqual(before);
    expect(expectOk(await fresh.admin.get(`${fresh.path}/files`)).total_items).toBe(0);
  });

  it('file.key-safety: leaves no blob when its row cannot be written', async () => {
    const fresh = await files.own.app();
    const before = await files.blobs();
    const database = await openDatabaseOf(files.own.id);
    const { status, body } = await database.transaction(async (sql) => {
      const [{ schema } = { schema: '' }] = await sql<{ schema: string }[]>`
        select schema from workspace.apps where id = ${fresh.id}`;
      await sql.unsafe(`set local role ${quoteIdentifier(schema)}`);
      await sql.unsafe(`lock table ${qualified({ schema, collection: '_files' })}`);
      return await fresh.admin.post(`${fresh.path}/files`, 'bytes');
    }).finally(() => database.end());
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
    expect(await files.blobs()).toEqual(before);
    expect(expectOk(await fresh.admin.get(`${fresh.path}/files`)).total_items).toBe(0);
  });
});
