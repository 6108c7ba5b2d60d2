// Blobs in a bucket, of a real S3 API.
import { S3Blobs } from '../../../storage/blobs/s3.ts';
import { startS3 } from '../../harness/s3.ts';
import { blobStoreContract } from './blob-store.contract.ts';

blobStoreContract('s3', async (giveWay) => {
  const { endpoint, bucket, accessKeyId, secretAccessKey, stop } = await startS3();
  const store = new S3Blobs({
    bucket,
    region: 'us-east-1',
    endpoint,
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
    virtual_hosted_style_request: false,
  }, giveWay);
  return { store, stop };
});
