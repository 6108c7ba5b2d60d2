// Commands that call a server, run as a user runs them, against a new server.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandUser, makeCommandUser } from '../../harness/user-folder.ts';
import { startServer, type TestServer } from '../../harness/server.ts';

const password = '1 password of the master';
const withPassword = { BULKHEAD_PASSWORD: password };

let server: TestServer;
let user: CommandUser;

beforeAll(async () => {
  server = await startServer();
  user = await makeCommandUser();
  await user.json(
    ['setup', '--url', server.url, '--workspace', 'acme', '--app', 'shop'],
    withPassword,
  );
});

afterAll(async () => {
  await user.remove();
  await server.stop();
});

describe('setup and login', () => {
  it('keep a key that only the user can read, and know who that is', async () => {
    const file = join(user.folder, '.config/bulkhead/credentials.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const stored = await readFile(file, 'utf8');
    expect(stored).toContain('bhk_');
    expect(stored).not.toContain(password);
    expect(await user.json(['whoami'])).toMatchObject({ url: server.url, name: 'admin', role: 'api_key' });
  });

  it('happen once: a server that is set up says what to do', async () => {
    const { exitCode, stderr } = await user.run(['setup', '--url', server.url], withPassword);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `bulkhead: ${server.url} is set up already; sign in: bulkhead login --url ${server.url}`,
    });
  });

  it('are refused with a wrong password, and where nobody can be asked for one', async () => {
    const other = await makeCommandUser({ BULKHEAD_URL: server.url });
    const wrong = await other.run(['login'], { BULKHEAD_PASSWORD: 'not that one' });
    expect(wrong.exitCode).toBe(3);
    expect(wrong.stderr).toContain('bad_credentials');
    const silent = await other.run(['login']);
    expect(silent.exitCode).toBe(1);
    expect(silent.stderr).toContain('BULKHEAD_PASSWORD');
    expect((await other.run(['whoami'])).exitCode).toBe(3);
    await other.remove();
  });

  it('make keys of workspaces and apps for their admins', async () => {
    await user.json(['admin', 'create', 'ada@example.com', '--workspace', 'acme', '--apps', 'shop'], {
      ...withPassword,
      BULKHEAD_NEW_PASSWORD: 'a password of ada',
    });
    const ada = await makeCommandUser({ BULKHEAD_URL: server.url });
    await ada.json(
      ['login', '--name', 'ada@example.com', '--workspace', 'acme', '--app', 'shop'],
      { BULKHEAD_PASSWORD: 'a password of ada' },
    );
    expect(await ada.json(['whoami'])).toMatchObject({ name: 'ada@example.com', app: 'shop' });
    expect((await ada.json(['app', 'list'])).map(({ id }: { id: string }) => id)).toEqual(['shop']);
    const refused = await ada.run(['workspace', 'create', 'mine', '--json']);
    expect(refused.exitCode).toBe(3);
    expect(JSON.parse(refused.stderr)).toMatchObject({ code: 'forbidden' });
    await ada.remove();
  });
});

describe('logout', () => {
  it('ends the key at the server too', async () => {
    const other = await makeCommandUser({ BULKHEAD_URL: server.url });
    await other.json(['login'], withPassword);
    const file = join(other.folder, '.config/bulkhead/credentials.json');
    const { logins } = JSON.parse(await readFile(file, 'utf8'));
    await other.json(['logout'], withPassword);
    const { exitCode } = await other.run(['workspace', 'list'], { BULKHEAD_TOKEN: logins[0].key.secret });
    expect(exitCode).toBe(3);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await other.remove();
  });
});

describe('the things of a server', () => {
  it('are created, listed, shown and deleted', async () => {
    await user.json(['workspace', 'create', 'w2', '--name', 'Second', '--ttl', '3600']);
    await user.json(['app', 'create', 'a2', '--workspace', 'w2']);
    expect(await user.json(['app', 'show', 'a2', '--workspace', 'w2'])).toMatchObject({ id: 'a2' });
    await user.json(['workspace', 'delete', 'w2', '--yes']);
    expect((await user.json(['workspace', 'list'])).map(({ id }: { id: string }) => id)).toEqual(['acme']);
    const { exitCode, stderr } = await user.run(['app', 'show', 'a2', '--workspace', 'w2']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('workspace_not_found');
  });

  it('are printed as a table for people', async () => {
    const { stdout } = await user.run(['workspace', 'list']);
    expect(stdout).toMatch(/^ID {4}NAME {2}CREATED .*\nacme {2}acme {2}20/);
  });

  it('that no key may touch ask for the password', async () => {
    const made = await user.json(
      ['key', 'create', 'importer', '--scopes', 'records:read', '--workspace', 'acme', '--app', 'shop'],
      withPassword,
    );
    expect(made.secret).toMatch(/^bhk_/);
    const keys = ['key', 'list', '--workspace', 'acme', '--app', 'shop'];
    expect(await user.json(keys, withPassword)).toContainEqual(expect.objectContaining({ id: made.id }));
    expect((await user.run(keys)).stderr).toContain('BULKHEAD_PASSWORD');
  });

  it('are in the workspace and app that the environment names', async () => {
    const place = { BULKHEAD_WORKSPACE: 'acme', BULKHEAD_APP: 'shop' };
    expect(await user.json(['hooks', 'list'], place)).toEqual([]);
    expect((await user.run(['hooks', 'list'])).stderr).toContain('which workspace? Say --workspace <id>');
  });

  it('invite users, whose mail is in the outbox', async () => {
    await user.json(['user', 'create', 'eve@example.com', '--workspace', 'acme']);
    const mail = await user.json([
      ...['outbox', '--workspace', 'acme', '--to', 'eve@example.com'],
      ...['--wait', '20', '--last'],
    ]);
    expect(mail).toMatchObject({ to: 'eve@example.com' });
  });
});

describe('a token of the environment', () => {
  it('does not go to the server that a project names', async () => {
    const other = await makeCommandUser();
    await mkdir(join(other.folder, 'bulkhead'));
    await writeFile(join(other.folder, 'bulkhead/project.json'), JSON.stringify({ url: server.url }));
    expect((await other.run(['whoami'])).stderr).toContain(server.url);
    const { stderr } = await other.run(['whoami'], { BULKHEAD_TOKEN: 'bhk_x' });
    expect(stderr).not.toContain(server.url);
    await other.remove();
  });
});

describe('mistakes', () => {
  it.each([
    [['workspace', 'list', '--frob'], "bulkhead: Unknown option '--frob'"],
    [['workspace', '--json', 'list'], 'flags come after the command'],
    [['toString'], 'there is no command "toString"'],
    [['workspace', 'list', 'all'], 'unexpected argument "all"'],
    [['workspace', 'list', '--url', 'nonsense'], 'nonsense is not the URL of a server'],
    [['workspace', 'create', 'x', '--ttl', 'soon'], '--ttl must be a whole number, not soon'],
  ])('%j say what is wrong', async (args, message) => {
    const { exitCode, stderr } = await user.run(args);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(message);
  });

  it('tell a server that is away from one that refuses', async () => {
    const { exitCode, stderr } = await user.run(['workspace', 'list', '--url', 'http://127.0.0.1:9']);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('no server responds at http://127.0.0.1:9');
  });
});
