// Which blob store a server has.
import { join } from 'node:path';
import type { BlobStore } from './blob-store.ts';
import { LocalBlobs } from './local.ts';
import type { S3Access } from './s3.ts';

/** What an operator chose. */
export interface BlobOptions {
  backend: 'local' | 's3';
  s3: S3Access;
}

/** Opens the store; `dataDir` is where local blobs are. */
export async function openBlobs({ backend, s3 }: BlobOptions, dataDir: string): Promise<BlobStore> {
  if (backend === 'local') return new LocalBlobs(join(dataDir, 'blobs'));
  // The SDK is large, and of no use to most servers.
  const { S3Blobs } = await import('./s3.ts');
  return new S3Blobs(s3);
}
