// Uploads that lie, stop, go on for too long, or whose app changes under them.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type ApiResponse, type Caller, expectOk, type OwnApp, serverUrl } from '../../harness/api.ts';
import { fileApp, get, upload } from '../../harness/file-app.ts';
import { sendRaw } from '../../harness/raw-requests.ts';
import { ownUser } from '../../harness/users.ts';

const files = await fileApp();
const { app, user } = files;
const mebibyte = 1_048_576;

function headOf({ token }: Caller, { path }: OwnApp, ...headers: string[]): string {
  const lines = [
    `POST ${path}/files HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const countIn = async ({ path, admin }: OwnApp): Promise<number> =>
  expectOk(await admin.get(`${path}/files`)).total_items;

const setCap = async ({ path, admin }: OwnApp, max: number): Promise<ApiResponse> =>
  await admin.put(`${path}/policies/storage.max_upload_mb`, { kind: 'range', min: 0, max });

/** Bytes as a chunked body. */
function chunked(...pieces: Buffer[]): Buffer {
  const framed = pieces.flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...framed, Buffer.from('0\r\n\r\n')]);
}

describe('a length', () => {
  it('file.key-safety: that is said twice, is no number, or contradicts the framing is refused, and nothing is kept', async () => {
    const fresh = await files.own.app();
    const before = await files.blobs();
    const cases: string[][] = [
      ['Content-Length: 4', 'Content-Length: 5'],
      ['Content-Length: 4, 5'],
      ['Content-Length: 4', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked', 'Content-Length: 4'],
      ['Transfer-Encoding: gzip'],
      ['Transfer-Encoding: chunked, identity'],
      ['Content-Length: -4'],
      ['Content-Length: +4'],
      ['Content-Length: 4.0'],
      ['Content-Length: 0x4'],
      ['Content-Length: 99999999999999999999999'],
      ['Content-Length : 4'],
    ];
    for (const headers of cases) {
      const head = headOf(user, fresh, ...headers, 'Connection: close');
      const { status } = await sendRaw(serverUrl(), `${head}0\r\n\r\n`);
      expect([headers, status]).toEqual([headers, 400]);
    }
    expect(await countIn(fresh)).toBe(0);
    // What had begun is removed when the response has left.
    await expect.poll(() => files.blobs()).toEqual(before);
  });

  it('file.key-safety: ends the file where it says, and what follows is the next request', async () => {
    const fresh = await files.own.app();
    const smuggled = headOf(user, fresh, 'X-Filename: second', 'Content-Length: 2', 'Connection: close') +
      'no';
    const head = headOf(user, fresh, 'X-Filename: first', 'Content-Length: 3');
    const { text } = await sendRaw(serverUrl(), `${head}yes${smuggled}`);
    expect(text.match(/HTTP\/1\.1 201 /g)).toHaveLength(2);
    const { items } = expectOk(await fresh.admin.get(`${fresh.path}/files`));
    const contents = await Promise.all(
      items.map(async ({ id, filename }: { id: string; filename: string }) => [
        filename,
        await (await get(user, `${fresh.path}/files/${id}`)).text(),
      ]),
    );
    expect(contents).toEqual([['second', 'no'], ['first', 'yes']]);
  });

  it('may be left out: nothing, the cap to the byte, and one byte more', async () => {
    const fresh = await files.own.app();
    expectOk(await setCap(fresh, 1));
    const head = headOf(user, fresh, 'Transfer-Encoding: chunked', 'Connection: close');
    const cases: [number, number][] = [[0, 201], [1, 201], [mebibyte, 201], [mebibyte + 1, 413]];
    for (const [length, status] of cases) {
      const pieces = length === 0
        ? []
        : [Buffer.alloc(length - 1, 'x'), Buffer.from('y')].filter((b) => b.length > 0);
      const response = await sendRaw(serverUrl(), Buffer.concat([Buffer.from(head), chunked(...pieces)]));
      expect([length, response.status]).toEqual([length, status]);
    }
    const { items } = expectOk(await fresh.admin.get(`${fresh.path}/files`));
    expect(items.map(({ size }: { size: number }) => size)).toEqual([mebibyte, 1, 0]);
  });
});

/** Opens a connection and sends the head of an upload with a part of its body. */
async function begin(
  to: OwnApp,
  length: number | 'chunked',
  sent: Buffer,
  by: Caller = user,
): Promise<Socket> {
  const { hostname, port } = new URL(serverUrl());
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  const framing = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  socket.write(headOf(by, to, framing, 'Connection: close'));
  socket.write(sent);
  return socket;
}

/** Sends the rest; answers all that comes back. */
async function finish(socket: Socket, rest: Buffer): Promise<string> {
  let text = '';
  socket.on('data', (part) => text += String(part));
  socket.write(rest);
  await once(socket, 'close');
  return text;
}

describe('an upload under way', () => {
  it('file.key-safety: leaves neither row nor blob, at whichever tenth of it the client leaves', async () => {
    const fresh = await files.own.app();
    const before = await files.blobs();
    for (let tenths = 0; tenths <= 9; tenths++) {
      const sent = Math.floor(mebibyte * tenths / 10);
      const socket = await begin(fresh, mebibyte, Buffer.alloc(sent));
      await expect.poll(files.unfinished).toEqual([sent]);
      socket.destroy();
      await expect.poll(files.blobs).toEqual(before);
    }
    expect(await countIn(fresh)).toBe(0);
  });

  it('is held to the policy that there was when it began, and the next one to the new one', async () => {
    const fresh = await files.own.app();
    expectOk(await setCap(fresh, 2));
    const body = Buffer.alloc(2 * mebibyte, 'x');
    const socket = await begin(fresh, body.length, body.subarray(0, mebibyte + 1));
    await expect.poll(files.unfinished).toEqual([mebibyte + 1]);
    expectOk(await setCap(fresh, 1));
    const { status } = await fetch(`${serverUrl()}${fresh.path}/files`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${user.token}` },
      body: new Uint8Array(body),
    });
    expect(status).toBe(413);
    expect(await finish(socket, body.subarray(mebibyte + 1))).toMatch(/^HTTP\/1\.1 201 /);
    const { items } = expectOk(await fresh.admin.get(`${fresh.path}/files`));
    expect(items.map(({ size }: { size: number }) => size)).toEqual([body.length]);
  });

  it('session.revoke-all: of somebody whose tokens end meanwhile is refused, and leaves nothing', async () => {
    const fresh = await files.own.app();
    const before = await files.blobs();
    const { own } = files;
    const [ann, ben, eve] = [await ownUser(own), await ownUser(own), await own.login([fresh.id])];
    const cases: [Caller, number, () => Promise<ApiResponse>][] = [
      [ann, 401, () => ann.delete(`${own.path}/auth/sessions`)],
      [ben, 401, () => own.admin.delete(`${own.path}/users/${ben.id}`)],
      [eve, 403, () => own.master.patch(`${own.path}/admins/${eve.id}`, { app_ids: [files.app.id] })],
    ];
    for (const [caller, status, end] of cases) {
      const socket = await begin(fresh, mebibyte, Buffer.alloc(mebibyte - 2), caller);
      // All of it: the server asks again with every chunk, and does not wait for the last byte.
      await expect.poll(files.unfinished).toEqual([mebibyte - 2]);
      expectOk(await end());
      expect(await finish(socket, Buffer.alloc(1))).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      await expect.poll(files.blobs).toEqual(before);
    }
    // Every byte has come by then, and nothing but the end is missing.
    const dan = await ownUser(own);
    const socket = await begin(fresh, 'chunked', Buffer.from('4\r\nbyte\r\n'), dan);
    await expect.poll(files.unfinished).toEqual([4]);
    expectOk(await dan.delete(`${own.path}/auth/sessions`));
    expect(await finish(socket, Buffer.from('0\r\n\r\n'))).toMatch(/^HTTP\/1\.1 401 /);
    await expect.poll(files.blobs).toEqual(before);
    expect(await countIn(fresh)).toBe(0);
  });

  it('file.key-safety: of an app that is deleted meanwhile is answered that the app is gone, and leaves nothing', async () => {
    const before = await files.blobs();
    const fresh = await files.own.app();
    const socket = await begin(fresh, mebibyte, Buffer.alloc(mebibyte - 1));
    await expect.poll(files.unfinished).toEqual([mebibyte - 1]);
    expectOk(await files.own.admin.delete(fresh.path));
    const text = await finish(socket, Buffer.alloc(1));
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(text).toContain('app_not_found');
    expect(await files.blobs()).toEqual(before);
  });
});

describe('a name', () => {
  it('file.xss: has nothing in it that turns the direction of text, in whatever way it comes', async () => {
    const marks = [
      0x061c,
      0x200e,
      0x200f,
      0x202a,
      0x202b,
      0x202c,
      0x202d,
      0x202e,
      0x2066,
      0x2067,
      0x2068,
      0x2069,
    ];
    for (const mark of [...marks, 0x00, 0x0a, 0x0d, 0x7f, 0x85, 0x2028, 0x2029]) {
      const name = encodeURIComponent(`a${String.fromCodePoint(mark)}fdp.exe`);
      const file = await upload(user, app, 'x', { name });
      expect([mark, file.filename]).toEqual([mark, 'afdp.exe']);
    }
  });

  it('file.xss: cannot add to the headers that it comes back in', async () => {
    const names = [
      `x"; filename="evil.html`,
      `x%22%0d%0aContent-Type:%20text/html%0d%0a%0d%0a<script>`,
      `x;filename*=UTF-8''evil.html`,
      `%00`,
      `%E2%80%AE`,
      `..%2f..%5c..`,
      `%C0%AE%C0%AE%2F`,
      `😀`.repeat(1_000).replace(/./gsu, encodeURIComponent),
      `${'%61'.repeat(4_000)}`,
    ];
    for (const name of names) {
      const file = await upload(user, app, 'x', { name });
      expect(Buffer.byteLength(file.filename)).toBeLessThanOrEqual(255);
      const { status, headers } = await get(user, `${app.path}/files/${file.id}`);
      expect([name, status, headers.get('content-type')]).toEqual([name, 200, 'application/octet-stream']);
      expect(headers.get('content-disposition')).toMatch(
        /^inline; filename="[A-Za-z0-9 ._()-]+"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+$/,
      );
      const [, encoded = ''] = headers.get('content-disposition')?.split("''") ?? [];
      expect(decodeURIComponent(encoded)).toBe(file.filename);
    }
  });
});
