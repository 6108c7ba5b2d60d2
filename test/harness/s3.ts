// A real S3 API for tests, on loopback, with a directory of its own; or any other, such as OpenStack Swift's or Ceph's, with
// `BULKHEAD_TEST_S3=http://<key>:<secret>@<host>:<port>/<bucket>`, whose bucket has to be there.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';

/** A running S3 API with one bucket. */
export interface TestS3 {
  endpoint: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  stop(): Promise<void>;
}

/** Starts one on a free port. */
export async function startS3(): Promise<TestS3> {
  const other = process.env['BULKHEAD_TEST_S3'] ?? '';
  if (other !== '') return given(new URL(other));
  const directory = await mkdtemp(join(tmpdir(), 'bulkhead-s3-'));
  const bucket = 'blobs';
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    // The keys that this server knows.
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    async stop() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function given({ protocol, host, pathname, username, password }: URL): TestS3 {
  return {
    endpoint: `${protocol}//${host}`,
    bucket: pathname.slice(1),
    accessKeyId: decodeURIComponent(username),
    secretAccessKey: decodeURIComponent(password),
    stop: () => Promise.resolve(),
  };
}
