// What is checked before anything is touched.
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quoteLiteral } from '../../../storage/sql/quote.ts';
import { scramVerifier } from '../../../storage/provision/scram.ts';
import { StartRefused } from '../../../storage/boot/start-refused.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

async function refusal(opening: Promise<unknown>): Promise<string> {
  const error: unknown = await opening.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartRefused);
  return error instanceof Error ? error.message : '';
}

it('names everything that the role lacks', async () => {
  const { database } = own.access;
  const verifier = quoteLiteral(scramVerifier('pw', randomBytes(16), 4096));
  await own.as({}, (sql) => sql.unsafe(`create role ${database} login password ${verifier}`));
  await own.as({}, (sql) => sql.unsafe(`grant connect on database ${database} to ${database}`));
  const message = await refusal(own.open({ access: { ...own.access, username: database, password: 'pw' } }));
  expect(message).toContain(`role "${database}" lacks CREATEDB`);
  expect(message).toContain(`role "${database}" lacks CREATEROLE`);
  expect(message).toContain(`may not create schemas in "${database}"`);
  expect(message).not.toContain('superuser');
  await own.as(
    {},
    (sql) => sql.unsafe(`revoke all on database ${database} from ${database}; drop role ${database}`),
  );
});

it('says that a password or database is wrong instead of trying for ever', async () => {
  expect(await refusal(own.open({ access: { ...own.access, password: 'wrong' } })))
    .toMatch(/refuses the connection: password authentication failed/);
  expect(await refusal(own.open({ access: { ...own.access, database: 'nowhere' } })))
    .toMatch(/refuses the connection: database "nowhere" does not exist/);
});

it('says that it cannot share the connections among so many processes', async () => {
  expect(await refusal(own.open({ workers: 50 }))).toContain('max_connections');
});

type Change = (response: Buffer) => Buffer;

const asItIs = (): Change => (response) => response;

/** Does what a pooler does: it sends its clients a process number of its own (`BackendKeyData`, before the first `ReadyForQuery`). */
function asPooler(): Change {
  let isReady = false;
  return (response) => {
    for (let at = 0; !isReady && at < response.length; at += 1 + response.readUInt32BE(at + 1)) {
      if (response[at] === 'K'.charCodeAt(0)) response.writeUInt32BE(0x7fff0001, at + 5);
      isReady = response[at] === 'Z'.charCodeAt(0);
    }
    return response;
  };
}

async function throughProxy(changing: () => Change): Promise<{ proxy: Server; port: number }> {
  const proxy = createServer((near: Socket) => {
    const far = connect(`${own.access.host}/.s.PGSQL.${own.access.port}`);
    const change = changing();
    near.pipe(far);
    far.on('data', (response: Buffer) => near.write(change(response)));
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  return { proxy, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

it('refuses a connection pooler, and nothing that passes on what the server says', async () => {
  const pooler = await throughProxy(asPooler);
  const access = { ...own.access, host: '127.0.0.1', port: pooler.port };
  expect(await refusal(own.open({ access }))).toContain('a connection pooler responds in its place');
  pooler.proxy.close();
  const other = await throughProxy(asItIs);
  await (await own.open({ access: { ...access, port: other.port } })).close();
  other.proxy.close();
});

it('fails so that it is tried again when the server does not respond', async () => {
  await expect(own.open({ access: { ...own.access, host: '/nowhere' } })).rejects.toMatchObject({
    failure: 'unavailable',
  });
});

it('refuses another master key than the one that the database was made with', async () => {
  const storage = await own.open();
  await storage.close();
  expect(await refusal(own.open({ masterKey: randomBytes(32) }))).toContain('the master key is not the one');
  await (await own.open()).close();
});

it('makes one master admin without a password, however often it starts', async () => {
  const storage = await own.open();
  const admins = await storage.databases.control.run((sql) =>
    sql`select username, password_hash from control.master_admins`
  );
  expect(admins).toEqual([{ username: 'admin', password_hash: null }]);
});
