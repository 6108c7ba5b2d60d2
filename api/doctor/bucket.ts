// Tries the bucket.
import type { S3Access } from '../../storage/blobs/s3-clients.ts';
import { errorCode } from '../../storage/sql/error-code.ts';
import type { Finding } from '../../supervisor/doctor/protocol.ts';
import { compareClock, type ForeignClock } from './clocks.ts';

const check = 'bucket';
/** The header `Date` has whole seconds. */
const precisionMs = 1_000;

/** What to do about an error of the store, by its name or code. */
const advices: Readonly<Record<string, string>> = {
  NoSuchBucket: 'make the bucket, or set storage.s3.bucket to one that is there',
  InvalidAccessKeyId: 'set storage.s3.access_key_id to a key of this store',
  SignatureDoesNotMatch: 'set storage.s3.secret_access_key to the secret of the access key',
  AccessDenied: 'let the key read, write and delete objects of the bucket',
  RequestTimeTooSkewed: 'set the clock of this machine, which is too far from that of the store',
  PermanentRedirect: 'set storage.s3.region to the region of the bucket',
  AuthorizationHeaderMalformed: 'set storage.s3.region to the region of the bucket',
};

/** Writes, reads and removes an object. Adds the clock of the store. */
export async function examineBucket(access: S3Access, clocks: ForeignClock[]): Promise<Finding> {
  const where = `${access.bucket}${access.endpoint === '' ? '' : ` at ${access.endpoint}`}`;
  const begin = Date.now();
  try {
    // The SDK is large, and most servers have no bucket.
    const { probeBucket } = await import('../../storage/blobs/s3-probe.ts');
    const clock = await probeBucket(access);
    if (clock !== undefined) clocks.push(compareClock('the bucket', clock, { begin, precisionMs }));
    return { check, status: 'ok', message: where, advice: null };
  } catch (error) {
    const [name, message] = error instanceof Error ? [error.name, error.message] : ['', String(error)];
    const code = errorCode(error);
    return {
      check,
      status: 'failed',
      message: `${where}: ${
        [name === 'Error' ? code : name, message].filter((part) => part !== '').join(': ')
      }`,
      advice: advices[name] ?? 'see that storage.s3 is right, and that this machine may connect there',
    };
  }
}
