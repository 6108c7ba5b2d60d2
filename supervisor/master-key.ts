// The master key, from which all other secrets of the server are derived, or with which they are encrypted.
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, systemErrorCode } from './errors.ts';
import { StartRefused } from './start-refused.ts';

/** The length of the master key in bytes. */
const masterKeyBytes = 32;

/** Decodes 32 bytes of base64, base64url or hexadecimal digits; undefined for anything else. */
export function decodeMasterKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length === masterKeyBytes ? key : undefined;
}

/**
 * Returns the configured key, or the one in `<data_dir>/master.key`, which is created when missing. Throws `StartRefused`
 * when the file is no key, is accessible to other users, or is not the key that the data directory was created with.
 */
export async function openMasterKey(dataDir: string, configured: string): Promise<Buffer> {
  const file = join(dataDir, 'master.key');
  const check = join(dataDir, 'master.key.check');
  const known = await readIfThere(check);
  const key = configured === '' ? await readKey(file) : decodeMasterKey(configured);
  if (key === undefined) {
    if (known !== undefined) {
      throw new StartRefused(`${file} is missing, and only it opens this data_dir: restore it`);
    }
    const made = randomBytes(masterKeyBytes);
    await write(file, `${made.toString('base64')}\n`);
    return checked(made, { check, known, source: file });
  }
  return checked(key, { check, known, source: configured === '' ? file : 'secrets.master_key' });
}

/** Derives the password of a role of the embedded cluster. */
export function derivePassword(masterKey: Buffer, role: string): string {
  const bytes = hkdfSync('sha256', masterKey, '', `bulkhead embedded postgres role ${role}`, masterKeyBytes);
  return Buffer.from(bytes).toString('base64url');
}

async function readKey(file: string): Promise<Buffer | undefined> {
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0) {
    throw new StartRefused(
      `${file} is open to other users (mode ${(mode & 0o777).toString(8)}): run chmod 600 ${file}`,
    );
  }
  const key = decodeMasterKey(text.trim());
  if (key !== undefined) return key;
  throw new StartRefused(`${file} must hold ${masterKeyBytes} bytes as base64 or hexadecimal digits`);
}

/** Compares the key with the data directory's fingerprint. With a wrong key, all passwords and secrets would fail later. */
async function checked(
  key: Buffer,
  { check, known, source }: { check: string; known: string | undefined; source: string },
): Promise<Buffer> {
  const fingerprint = createHmac('sha256', key).update('bulkhead master key check').digest('hex').slice(
    0,
    32,
  );
  if (known === undefined) await write(check, `${fingerprint}\n`);
  else if (known.trim() !== fingerprint) {
    throw new StartRefused(`${source} is not the key that this data_dir was made with: restore that one`);
  }
  return key;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw new StartRefused(`${file} cannot be read: ${messageOf(error)}`);
  }
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeDurably(file, text);
  } catch (error) {
    throw new StartRefused(`${file} cannot be written: ${messageOf(error)}`);
  }
}

/** Writes a file atomically and durably, so that a power cut cannot lose a key with which something was encrypted. */
async function writeDurably(file: string, text: string): Promise<void> {
  const aside = await open(`${file}.new`, 'w', 0o600);
  await aside.writeFile(text);
  await aside.sync();
  await aside.close();
  await rename(`${file}.new`, file);
  const directory = await open(dirname(file));
  await directory.sync();
  await directory.close();
}
