// The master key, what is derived from it, and the data directory's lock.
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataDir } from '../../supervisor/data-dir.ts';
import { decodeMasterKey, derivePassword, openMasterKey } from '../../supervisor/master-key.ts';
import { scramVerifier } from '../../supervisor/postgres/scram.ts';
import { StartRefused } from '../../supervisor/start-refused.ts';

const uid = process.getuid?.() ?? 0;
let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bulkhead-secrets-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('the master key', () => {
  it('is made once, closed to others', async () => {
    const made = await openMasterKey(dir, '');
    expect(made).toHaveLength(32);
    expect((await stat(join(dir, 'master.key'))).mode & 0o777).toBe(0o600);
    expect(await openMasterKey(dir, '')).toEqual(made);
  });

  it.each([['base64', 'base64'], ['base64url', 'base64url'], ['hexadecimal digits', 'hex']] as const)(
    'is read from %s',
    (_, encoding) => {
      const key = Buffer.alloc(32, 0xfb);
      expect(decodeMasterKey(key.toString(encoding))).toEqual(key);
    },
  );

  it.each(['', 'short', 'a'.repeat(42), 'a'.repeat(45), 'g'.repeat(64), ' '.repeat(43)])(
    'is not %o',
    (text) => {
      expect(decodeMasterKey(text)).toBeUndefined();
    },
  );

  it('is refused when others can read its file', async () => {
    await openMasterKey(dir, '');
    await chmod(join(dir, 'master.key'), 0o640);
    await expect(openMasterKey(dir, '')).rejects.toThrow(/master\.key is open to other users \(mode 640\)/);
  });

  it('is refused when the file holds something else', async () => {
    await writeFile(join(dir, 'master.key'), 'secret\n', { mode: 0o600 });
    await expect(openMasterKey(dir, '')).rejects.toThrow(/master\.key must hold 32 bytes/);
  });

  it('is refused when it is not the one that the data directory was made with', async () => {
    await openMasterKey(dir, '');
    const other = Buffer.alloc(32).toString('base64');
    await expect(openMasterKey(dir, other)).rejects.toThrow(/secrets\.master_key is not the key/);
  });

  it('is not made anew when it was lost', async () => {
    await openMasterKey(dir, '');
    await rm(join(dir, 'master.key'));
    await expect(openMasterKey(dir, '')).rejects.toThrow(/master\.key is missing/);
  });

  it('that cannot be kept ends the start in one line', async () => {
    const file = join(dir, 'gone', 'master.key');
    const refused = openMasterKey(join(dir, 'gone'), '');
    await expect(refused).rejects.toBeInstanceOf(StartRefused);
    await expect(refused).rejects.toThrow(`${file} cannot be written: ENOENT`);
  });

  it('gives each role another password', () => {
    const key = Buffer.alloc(32, 1);
    expect(derivePassword(key, 'a')).toBe(derivePassword(key, 'a'));
    expect(derivePassword(key, 'a')).not.toBe(derivePassword(key, 'b'));
    expect(derivePassword(key, 'a')).not.toBe(derivePassword(Buffer.alloc(32, 2), 'a'));
  });
});

describe('a SCRAM verifier', () => {
  it('is the one of RFC 7677, section 3', () => {
    const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
    expect(scramVerifier('pencil', salt, 4096)).toBe(
      'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==' +
        '$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
    );
  });
});

describe('the data directory', () => {
  it('is closed to other users, but for the way to PostgreSQL when root made it', async () => {
    const made = await openDataDir(join(dir, 'a', 'b'), uid);
    made.release();
    expect((await stat(made.path)).mode & 0o777).toBe(uid === 0 ? 0o711 : 0o700);
  });

  it('loses the access that others had', async () => {
    await chmod(dir, 0o777);
    (await openDataDir(dir, uid)).release();
    expect((await stat(dir)).mode & 0o066).toBe(0);
  });

  it('is refused while another server has it, naming that one', async () => {
    const first = await openDataDir(dir, uid);
    await expect(openDataDir(dir, uid)).rejects.toThrow(`in use by another bulkhead (pid ${process.pid})`);
    first.release();
    (await openDataDir(dir, uid)).release();
  });

  it('is not taken for locked when its last user was killed', async () => {
    (await openDataDir(dir, uid)).release();
    // The number of a process that is alive, but no server.
    await writeFile(join(dir, 'bulkhead.pid'), '1\n');
    (await openDataDir(dir, uid)).release();
    expect(await readFile(join(dir, 'bulkhead.pid'), 'utf8')).toBe(`${process.pid}\n`);
  });

  it('is refused in one line when it cannot be made', async () => {
    await writeFile(join(dir, 'file'), '');
    await expect(openDataDir(join(dir, 'file', 'data'), uid)).rejects.toThrow(/data_dir .* cannot be made/);
    await expect(openDataDir(join(dir, 'file'), uid)).rejects.toThrow(/data_dir .* is no directory/);
    expect((await stat(join(dir, 'file'))).mode & 0o111).toBe(0);
  });

  it.runIf(uid === 0)('is refused when it belongs to someone else', async () => {
    await expect(openDataDir(dir, 65_534)).rejects.toThrow(/belongs to another user \(uid 0\)/);
  });
});
