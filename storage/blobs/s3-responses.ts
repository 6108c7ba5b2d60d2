// How responses of an S3 API are read.
import { type ListMultipartUploadsCommandOutput, S3ServiceException } from '@aws-sdk/client-s3';

/** Drops what a listing holds beyond its prefix, be it of a small store or of a cache: that is not ours to remove. */
export function only<Item extends { Key?: string | undefined }>(
  items: readonly Item[] = [],
  prefix: string,
): Item[] {
  return items.filter(({ Key }) => Key?.startsWith(prefix) === true);
}

/** The beginning of the next page. A key may have several uploads. */
export function behind({ NextKeyMarker, NextUploadIdMarker }: ListMultipartUploadsCommandOutput) {
  if (NextKeyMarker === undefined) return undefined;
  return NextUploadIdMarker === undefined
    ? { KeyMarker: NextKeyMarker }
    : { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker };
}

/** Ends a listing that repeats itself. */
export function failEndless(prefix: string): never {
  throw new Error(`the listing of ${prefix} does not come to an end`);
}

/** True for a missing blob. When the bucket is missing, nothing is known of the blob. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404 &&
    error.name !== 'NoSuchBucket';
}

/** True for small stores without a listing of unfinished uploads. They expire those by themselves, or keep none. */
export function isUnknownToStore(error: unknown): boolean {
  return error instanceof S3ServiceException && [405, 501].includes(error.$metadata.httpStatusCode ?? 0);
}
