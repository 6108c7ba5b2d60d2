// The part of the disk that tenants may not fill: what they write is refused while less is free.
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../storage/sql/error-code.ts';
import type { Config } from '../../supervisor/protocol.ts';
import { fail } from '../errors.ts';
import { logFailure, type Observe } from '../logging/events.ts';

/** Where disks may be mounted below `data_dir`. Those of a database server or a bucket elsewhere are not there. */
const folders = ['', 'blobs', 'postgresql', 'postgresql/data'];
const checkMs = 1_000;
const retryAfter = [['Retry-After', '60']] as const;
const mebibyte = 1_048_576;

interface ReserveParts {
  config: Pick<Config, 'data_dir'> & { storage: Pick<Config['storage'], 'reserve_mb'> };
  observe: Observe;
  /** The bytes that are free on the disk of a folder; those of the system unless a test has others. */
  freeBytes?: (folder: string) => Promise<number>;
}

/** The reserve, as one process watches it. */
export class DiskReserve {
  readonly #parts: ReserveParts;
  #isLow = false;

  constructor(parts: ReserveParts) {
    this.#parts = parts;
    const report = logFailure(parts, 'measure the free disk');
    setInterval(() => void this.check().catch(report), checkMs).unref();
  }

  /** Throws `503 unavailable` while less than the reserve is free. Deletions, sign-ins and audit entries do not ask. */
  requireSpace(): void {
    if (this.#isLow) fail('unavailable', 'the disk of the server is almost full', retryAfter);
  }

  /** Measures what is free, and logs when it begins or ceases to be too little. Throws the error of the system. */
  async check(): Promise<void> {
    const { config: { data_dir, storage }, observe } = this.#parts;
    const free = await Promise.all(folders.map((folder) => this.#free(join(data_dir, folder))));
    const free_mb = Math.floor(Math.min(...free) / mebibyte);
    const isLow = free_mb < storage.reserve_mb;
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    observe({ type: isLow ? 'disk_low' : 'disk_recovered', free_mb, reserve_mb: storage.reserve_mb });
  }

  async #free(folder: string): Promise<number> {
    try {
      return await (this.#parts.freeBytes ?? freeBytes)(folder);
    } catch (error) {
      // Not there, or within a folder that only PostgreSQL may enter.
      if (['ENOENT', 'EACCES'].includes(errorCode(error))) return Infinity;
      throw error;
    }
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
