// TLS to a remote server, tried through a proxy that speaks it in front of the Unix socket.
import { connect, createServer, type Server } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool } from '../../../storage/connections/pool.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

/** Of this test alone, for localhost, signed by itself. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUEUMkPJjxHIuVH23k60ma3luR1JwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDIyMzAwM1oYDzIxMjYxMDI3
MjIzMDAzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARAIuGgakNKmwcFJPl9rKjpl69kAg4EaZVCkqhYNT5a/aHLRHhw0x0g
1SrU1gMD6S2SLQgOl6wFRomdn5BUAhIko2kwZzAdBgNVHQ4EFgQU3PrrJ3AwBNDx
8PrFpu6LyCim3iIwHwYDVR0jBBgwFoAU3PrrJ3AwBNDx8PrFpu6LyCim3iIwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIgecjetKdaG6UYhACoy0aRrWhv201250Q9tIpParzniecCIQCakcmbwSvU
h+AqLjLRldZik4hdXOsIdnltSrnvT0l4vQ==
-----END CERTIFICATE-----
`;
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwjxhtHO9kVOnOnxL
+eGyth2cGm67WLnQIEgU16imvG2hRANCAARAIuGgakNKmwcFJPl9rKjpl69kAg4E
aZVCkqhYNT5a/aHLRHhw0x0g1SrU1gMD6S2SLQgOl6wFRomdn5BUAhIk
-----END PRIVATE KEY-----
`;

let own: OwnInstallation;
let server: Server;
let port: number;
let encrypted = 0;

beforeAll(async () => {
  own = await ownInstallation();
  server = createServer((socket) => {
    socket.on('error', () => 'the client went away');
    socket.once('data', () => {
      socket.write('S');
      const inside = new TLSSocket(socket, { isServer: true, key, cert: certificate });
      inside.on('error', () => socket.destroy());
      inside.once('secure', () => encrypted++);
      const database = connect(`${own.access.host}/.s.PGSQL.${own.access.port}`);
      database.on('error', () => inside.destroy());
      database.on('close', () => inside.destroy());
      inside.on('close', () => database.destroy());
      inside.pipe(database).pipe(inside);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(async () => {
  server.close();
  await own.remove();
});

async function reach(host: string, ssl: 'prefer' | 'require') {
  const pool = new Pool({ ...own.access, host, port, ssl }, {
    cap: 2,
    permits: unlimitedPermits,
    now: Date.now,
  });
  try {
    return await Promise.all(
      [1, 2, 3].map((number) => pool.run((sql) => sql`select ${number}::int as number`)),
    );
  } finally {
    await pool.end();
  }
}

it.each(
  [['localhost', 'prefer'], ['localhost', 'require'], ['127.0.0.1', 'require']] as const,
)('encrypts the way to %s with %s, whoever signed the certificate', async (host, ssl) => {
  const before = encrypted;
  expect(await reach(host, ssl)).toEqual([[{ number: 1 }], [{ number: 2 }], [{ number: 3 }]]);
  expect(encrypted).toBeGreaterThan(before);
});

it.each(['localhost', '127.0.0.1'])(
  'refuses for %s with verify-full an untrusted certificate',
  async (host) => {
    const pool = new Pool({ ...own.access, host, port, ssl: 'verify-full' }, {
      cap: 1,
      permits: unlimitedPermits,
      now: Date.now,
    });
    await expect(pool.run((sql) => sql`select 1`)).rejects.toMatchObject({
      failure: 'unavailable',
      cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    });
    await pool.end();
  },
);

it('says so when the name of the server leads nowhere', async () => {
  const pool = new Pool({ ...own.access, host: 'nowhere.invalid', port, ssl: 'require' }, {
    cap: 1,
    permits: unlimitedPermits,
    now: Date.now,
  });
  await expect(pool.run((sql) => sql`select 1`)).rejects.toMatchObject({ failure: 'unavailable' });
  await pool.end();
});

it('fails what is in flight when the connection goes away, and connects again', async () => {
  const pool = new Pool({ ...own.access, host: 'localhost', port, ssl: 'require' }, {
    cap: 1,
    permits: unlimitedPermits,
    now: Date.now,
  });
  const [backend] = await pool.run((sql) => sql`select pg_backend_pid() as pid`);
  const waiting = pool.run((sql) => sql`select pg_sleep(30)`);
  const failed = expect(waiting).rejects.toMatchObject({ failure: 'unavailable' });
  await own.as({}, (sql) => sql`select pg_terminate_backend(${backend?.['pid']}::int)`);
  await failed;
  expect(await pool.run((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  await pool.end();
});
