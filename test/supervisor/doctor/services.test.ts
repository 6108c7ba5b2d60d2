// `bulkhead doctor` names what is wrong with the database, the mail server, the bucket and the clocks.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpointOf, masterKeyOf } from '../../harness/database.ts';
import { examine, fault } from '../../harness/doctor.ts';
import { freePort } from '../../harness/free-port.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { type Provider, startProvider } from '../../harness/smtp.ts';
import { startS3, type TestS3 } from '../../harness/s3.ts';

let server: TestServer;
let provider: Provider;
let s3: TestS3;

beforeAll(async () => {
  [server, provider, s3] = await Promise.all([startServer(), startProvider(), startS3()]);
});
afterAll(() => Promise.all([server.stop(), provider.close(), s3.stop()]));

describe('the server that runs', () => {
  it('is recognized at its port, and its database is tried', async () => {
    const { port } = new URL(server.url);
    const { all, faults } = await examine([`--data-dir=${server.dataDir}`, `--http-port=${port}`]);
    expect(faults).toEqual([]);
    const messageOf = (check: string) => all.find((finding) => finding.check === check)?.message;
    expect(messageOf('port')).toBe(`127.0.0.1:${port}, where this server runs`);
    expect(messageOf('database')).toMatch(/^PostgreSQL 18\./);
    expect(messageOf('clock')).toMatch(/Z, as the database says$/);
  });

  it('is named where it has the port of another', async () => {
    const { port } = new URL(server.url);
    const { faults } = await examine([`--http-port=${port}`]);
    expect(faults).toEqual(fault('port', /^another Bulkhead server listens on port/, /stop that one/));
  });
});

describe('a database', () => {
  /** The URL of the server's own database, with another password or name if wanted. */
  function urlOf({ password = '', name = 'bulkhead' } = {}): string {
    const { host, username, password: right } = endpointOf(server.dataDir, 'bulkhead');
    return `postgres://${username}:${password === '' ? right : password}@/${name}?host=${host}`;
  }

  it('that is not there is named', async () => {
    const port = await freePort();
    const { faults } = await examine([`--database-url=postgres://u:p@127.0.0.1:${port}/x`]);
    expect(faults).toEqual(
      fault('database', new RegExp(`^127.0.0.1:${port}: .*ECONNREFUSED`), /database\.url/),
    );
  });

  it('that takes no such password is named, and the password is not', async () => {
    const { faults } = await examine([`--database-url=${urlOf({ password: 'wrong-one' })}`]);
    expect(faults).toEqual(fault('database', /password authentication failed/, /external-postgresql/));
    expect(JSON.stringify(faults)).not.toContain('wrong-one');
  });

  it('of another name than any is named', async () => {
    const { faults } = await examine([`--database-url=${urlOf({ name: 'nothing' })}`]);
    expect(faults).toEqual(fault('database', /nothing/, /external-postgresql/));
  });

  it('that was made with another master key is named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bulkhead-key-'));
    await writeFile(join(folder, 'master.key'), `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
    const flags = [`--data-dir=${folder}`, `--database-url=${urlOf()}`];
    const key = `--secrets-master-key=${masterKeyOf(server.dataDir).toString('base64')}`;
    expect((await examine([...flags, key])).faults).toEqual([]);
    const other = `--secrets-master-key=${randomBytes(32).toString('base64')}`;
    const { faults } = await examine([...flags, other]);
    await rm(folder, { recursive: true });
    expect(faults).toEqual(fault('database', /another master key/, /secrets\.master_key/));
  });
});

describe('a mail server', () => {
  const mail = ['--mail-transport=smtp', '--mail-from=Shop <shop@example.com>'];

  it('that is well is not complained of, and gets no mail', async () => {
    const { faults } = await examine([...mail, `--mail-smtp-url=${provider.url}`]);
    expect(faults).toEqual([]);
    expect(provider.mails).toEqual([]);
  });

  it('that is not there is named', async () => {
    const port = await freePort();
    const { faults } = await examine([...mail, `--mail-smtp-url=smtp://127.0.0.1:${port}`]);
    expect(faults).toEqual(
      fault('mail', new RegExp(`^127.0.0.1:${port}: .*ECONNREFUSED`), /mail\.smtp\.url/),
    );
  });

  it('that takes no such password is named', async () => {
    provider.mood = 'takes no password';
    const { faults } = await examine([...mail, `--mail-smtp-url=${provider.url}`]);
    provider.mood = 'accepts';
    expect(faults).toEqual(
      fault('mail', /refuses the user name or password in mail\.smtp\.url/, /mail\.smtp\.url/),
    );
  });

  it('for a sender that nobody believes is warned of', async () => {
    const { faults } = await examine(['--mail-transport=smtp', `--mail-smtp-url=${provider.url}`]);
    expect(faults).toMatchObject([{
      check: 'mail',
      status: 'warning',
      message: expect.stringContaining('localhost'),
    }]);
  });
});

describe('a bucket', () => {
  const bucket = (change: Readonly<Record<string, string>> = {}) => {
    const settings = {
      'storage.s3.bucket': s3.bucket,
      'storage.s3.endpoint': s3.endpoint,
      'storage.s3.access_key_id': s3.accessKeyId,
      'storage.s3.secret_access_key': s3.secretAccessKey,
      ...change,
    };
    return [
      '--storage-backend=s3',
      ...Object.entries(settings).map(([key, value]) => `--set=${key}=${value}`),
    ];
  };

  it('that is well is not complained of', async () => {
    const { all, faults } = await examine(bucket());
    expect(faults).toEqual([]);
    expect(all.find(({ check }) => check === 'clock')?.message).toMatch(/Z, as the bucket says$/);
  });

  it('that is not there is named', async () => {
    const { faults } = await examine(bucket({ 'storage.s3.bucket': 'nothing' }));
    expect(faults).toEqual(fault('bucket', /^nothing at http.*NoSuchBucket/, /make the bucket/));
  });

  it('that takes no such key is named', async () => {
    const { faults } = await examine(bucket({ 'storage.s3.access_key_id': 'SOMEBODY' }));
    expect(faults).toEqual(fault('bucket', /InvalidAccessKeyId/, /storage\.s3\.access_key_id/));
  });

  it('whose store is not there is named', async () => {
    const { faults } = await examine(
      bucket({ 'storage.s3.endpoint': `http://127.0.0.1:${await freePort()}` }),
    );
    expect(faults).toEqual(fault('bucket', /ECONNREFUSED/, /storage\.s3/));
  });

  // The SDK takes a clock that is further off for its own, and s3rver would refuse that.
  it('whose clock is another is named, with the difference', async () => {
    const late = await startLateProxy(s3.endpoint, 120_000);
    const { faults } = await examine(bucket({ 'storage.s3.endpoint': late.url }));
    late.close();
    expect(faults).toEqual(
      fault('clock', /^the clock of the bucket is 1[12]\d s behind ours$/, /chrony/),
    );
  });
});

/** A proxy before a store, whose responses are of so many milliseconds ago. */
async function startLateProxy(to: string, behindMs: number): Promise<{ url: string; close: () => void }> {
  const { hostname, port } = new URL(to);
  const proxy = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    incoming.pipe(request({ hostname, port, method, path: url, headers }, (found) => {
      const date = new Date(Date.now() - behindMs).toUTCString();
      response.writeHead(found.statusCode ?? 502, { ...found.headers, date });
      found.pipe(response);
    }));
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const { port: own } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, close: () => proxy.close() };
}
