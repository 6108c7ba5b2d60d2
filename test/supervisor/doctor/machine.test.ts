// `bulkhead doctor` names what is planted on this machine: folders, keys, disks, ports, settings.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bulkhead } from '../../harness/command.ts';
import { examine, fault } from '../../harness/doctor.ts';

const isRoot = process.getuid?.() === 0;
/** Somebody who is not root, and owns nothing. */
const nobody = { uid: 65_534, gid: 65_534 };
const user = isRoot ? nobody : undefined;
let home = '';

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-doctor-test-'));
  await chmod(home, 0o755);
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function makeFolder(name: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = join(home, name);
  await mkdir(folder, { mode: 0o700 });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text, { mode: 0o600 });
  }
  return folder;
}

describe('a machine where all is well', () => {
  it('is told so, and nothing is made there', async () => {
    const cwd = await makeFolder('well');
    const { exitCode, stdout } = await bulkhead(['doctor', '--http-port=0'], { cwd });
    expect({ exitCode, stdout }).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^ok +node +Node/),
    });
    expect(stdout).toMatch(/^(All is well\.|The server can do its work; see the warnings\.)$/m);
    expect(await readdir(cwd)).toEqual([]);
  });

  it('has each thing checked', async () => {
    const { all, faults } = await examine([]);
    expect(faults).toEqual([]);
    expect(all.map(({ check }) => check)).toEqual([
      ...[
        'node',
        'deno',
        'configuration',
        'data_dir',
        'hooks.dir',
        'master_key',
        'disk',
        'postgresql',
        'port',
      ],
      ...['sandbox', 'clock', 'mail'],
    ]);
  });
});

describe('settings', () => {
  it('that do not exist are named, and where they come from', async () => {
    const { faults } = await examine([], { env: { BULKHEAD_HTTP__PROT: '1' } });
    expect(faults).toEqual(
      fault('configuration', /^unknown setting BULKHEAD_HTTP__PROT \(environment\)$/, /bulkhead config/),
    );
  });

  it('that are secret in a file for everybody are warned of', async () => {
    const cwd = await makeFolder('secret');
    const file = join(cwd, 'bulkhead.config.json');
    await writeFile(file, JSON.stringify({ mail: { smtp: { url: 'smtp://user:secret@127.0.0.1' } } }));
    await chmod(file, 0o644);
    const { faults, exitCode } = await examine([], { cwd });
    expect({ faults, exitCode }).toMatchObject({
      exitCode: 0,
      faults: [{ check: 'configuration', status: 'warning', advice: `run chmod 600 ${file}` }],
    });
    expect(JSON.stringify(faults)).not.toContain('user:secret');
  });
});

describe('a data directory', () => {
  it('that cannot be made is named', async () => {
    const { faults } = await examine([`--data-dir=/usr/none`], { user });
    expect(faults.slice(0, 1)).toEqual(
      fault('data_dir', /^\/usr\/none cannot be written to: EACCES/, /writable/),
    );
  });

  it('of another user is named, with that user', async () => {
    const { faults } = await examine(['--data-dir=/usr'], { user });
    expect(faults[0]).toMatchObject(
      {
        check: 'data_dir',
        message: expect.stringMatching(/^\/usr belongs to another user \(uid 0, and this is uid \d+\)$/),
      },
    );
  });

  it('that is a file is named', async () => {
    const folder = await makeFolder('file', { data: '' });
    const { faults } = await examine([`--data-dir=${folder}/data`, `--hooks-dir=${folder}`]);
    expect(faults).toEqual(fault('data_dir', /data is no folder$/, /move it away/));
  });

  it('whose database is gone is named', async () => {
    const folder = await makeFolder('gone', { served: '' });
    const { faults } = await examine([`--data-dir=${folder}`]);
    expect(faults).toEqual(fault('postgresql', /was in use, and its database is gone/, /database\.url/));
  });

  it('of another PostgreSQL is named, with both versions', async () => {
    const folder = await makeFolder('old', { 'postgresql/data/PG_VERSION': '17\n' });
    const { faults } = await examine([`--data-dir=${folder}`]);
    expect(faults).toEqual(
      fault('postgresql', /^PostgreSQL 18\.\S+ cannot read data that PostgreSQL 17/, /17$/),
    );
  });

  it.runIf(isRoot)('whose database is another user’s is named', async () => {
    const folder = await makeFolder('cluster', { 'postgresql/data/PG_VERSION': '18\n' });
    await chown(folder, nobody.uid, nobody.gid);
    await chmod(join(folder, 'postgresql'), 0o755);
    const { faults } = await examine([`--data-dir=${folder}`], { user });
    expect(faults).toEqual(
      fault('postgresql', /belongs to another user \(uid 0\)/, /as root or as that user/),
    );
  });
});

describe('a master key', () => {
  it('that others may read is named', async () => {
    const folder = await makeFolder('open', { 'master.key': 'x', 'master.key.check': 'y' });
    await chmod(join(folder, 'master.key'), 0o644);
    const { faults } = await examine([`--data-dir=${folder}`]);
    expect(faults).toEqual(fault('master_key', /is open to other users \(mode 644\)/, /backup/));
  });

  it('that is lost is named, and not made anew', async () => {
    const folder = await makeFolder('lost', { 'master.key.check': 'y' });
    const { faults } = await examine([`--data-dir=${folder}`]);
    expect(faults).toEqual(fault('master_key', /master\.key is missing/, /backup/));
    await expect(access(join(folder, 'master.key'))).rejects.toThrow('ENOENT');
  });
});

describe('a disk', () => {
  it.runIf(isRoot)('that is full is named', async () => {
    const folder = await makeFolder('disk');
    const run = promisify(execFile);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', folder]);
    try {
      await expect(writeFile(join(folder, 'big'), Buffer.alloc(200_000))).rejects.toThrow('ENOSPC');
      const { faults } = await examine([`--data-dir=${folder}`]);
      expect(faults).toEqual(fault('disk', /^the disk of .*disk is full$/, /larger disk/));
    } finally {
      await run('umount', ['--lazy', folder]);
    }
  });

  it('with less than the reserve is named', async () => {
    const { faults } = await examine(['--storage-reserve-mb=1000000000']);
    expect(faults).toEqual(
      fault('disk', /^\d+ MB are free .* leave 1000000000 MB free/, /storage\.reserve_mb/),
    );
  });
});

describe('an address', () => {
  it('that is taken is named', async () => {
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as AddressInfo;
    const { faults } = await examine([`--http-port=${port}`]);
    other.close();
    expect(faults).toEqual(
      fault('port', new RegExp(`^another program listens on port ${port} of 127.0.0.1$`), /--http-port/),
    );
  });

  it('that is none of this machine’s is named', async () => {
    const { faults } = await examine(['--http-host=203.0.113.7']);
    expect(faults).toEqual(fault('port', /^203\.0\.113\.7 is no address of this machine$/, /127\.0\.0\.1/));
  });
});
