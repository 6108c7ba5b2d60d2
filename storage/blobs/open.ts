// Opens the blob store that the settings choose.
import { join } from 'node:path';
import type { BlobStore, GiveWay } from './blob-store.ts';
import { LocalBlobs } from './local.ts';
import type { S3Access } from './s3-clients.ts';

/** The settings of the blob store. */
export interface BlobOptions {
  backend: 'local' | 's3';
  s3: S3Access;
}

/** Opens the store, whose writes call `giveWay` first. Local blobs are below `data_dir`. */
export async function openBlobs(
  { storage: { backend, s3 }, data_dir }: { storage: BlobOptions; data_dir: string },
  giveWay: GiveWay,
): Promise<BlobStore> {
  if (backend === 'local') return new LocalBlobs(join(data_dir, 'blobs'), giveWay);
  // The SDK is large, and most servers do not use it.
  const { S3Blobs } = await import('./s3.ts');
  return new S3Blobs(s3, giveWay);
}
