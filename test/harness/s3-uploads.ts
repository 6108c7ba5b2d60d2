// The part of the S3 API that `s3rver` lacks: listing and aborting multipart uploads. Written after the API's reference
// (https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html), of one bucket, without signatures.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A store with uploads that have begun. */
export interface UploadStore {
  endpoint: string;
  bucket: string;
  /** Unfinished uploads: key by upload id. */
  uploads: Map<string, string>;
  /** What was asked, as method and path with query. */
  asked: string[];
  /** Called before a part is taken; the status that it is answered, if it is to fail for no fault of its own. */
  onPart: () => number | void;
  /** Adds unfinished uploads of a key. */
  begin(key: string): string;
  stop(): Promise<void>;
}

/** Starts one on a free port. A page of its listing has two uploads. */
export async function startUploadStore(): Promise<UploadStore> {
  const bucket = 'blobs';
  const server = createServer((request, response) => void handle(store, request, response));
  const store: UploadStore = {
    endpoint: '',
    bucket,
    uploads: new Map(),
    asked: [],
    onPart: () => undefined,
    begin(key) {
      const id = randomUUID();
      store.uploads.set(id, key);
      return id;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  store.endpoint = `http://127.0.0.1:${port}`;
  return store;
}

const pageLength = 2;

async function handle(store: UploadStore, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request;
  store.asked.push(`${method} ${url}`);
  const { pathname, searchParams: query } = new URL(url, 'http://store');
  const key = decodeURIComponent(pathname).slice(store.bucket.length + 2);
  for await (const _ of request) continue;
  const say = (status: number, xml = '', headers: Record<string, string> = {}) => {
    response.writeHead(status, { 'content-type': 'application/xml', ...headers });
    response.end(xml === '' ? '' : `<?xml version="1.0" encoding="UTF-8"?>${xml}`);
  };
  const id = query.get('uploadId') ?? '';
  if (method === 'GET' && query.has('uploads')) return say(200, listOf(store, query));
  if (method === 'GET') {
    return say(200, '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>');
  }
  if (method === 'POST' && query.has('uploads')) {
    return say(200, tag('InitiateMultipartUploadResult', tag('UploadId', store.begin(key))));
  }
  const refusal = method === 'PUT' ? store.onPart() : undefined;
  if (typeof refusal === 'number') return say(refusal, tag('Error', tag('Code', 'AccessDenied')));
  if (store.uploads.get(id) !== key) {
    return say(404, tag('Error', tag('Code', 'NoSuchUpload') + tag('Message', 'there is no such upload')));
  }
  if (method === 'PUT') return say(200, '', { etag: '"part"' });
  store.uploads.delete(id);
  return method === 'DELETE'
    ? say(204)
    : say(200, tag('CompleteMultipartUploadResult', tag('ETag', 'whole')));
}

/** In the order of keys and then of ids, from behind the markers. */
function listOf({ uploads }: UploadStore, query: URLSearchParams): string {
  const [prefix, afterKey, afterId] = ['prefix', 'key-marker', 'upload-id-marker'].map((name) =>
    query.get(name) ?? ''
  );
  const all = [...uploads].map(([id, key]) => ({ id, key }))
    .filter(({ key }) => key.startsWith(prefix ?? ''))
    .sort((a, b) => compare(a.key, b.key) || compare(a.id, b.id))
    .filter(({ id, key }) =>
      compare(key, afterKey ?? '') > 0 || (key === afterKey && afterId !== '' && id > (afterId ?? ''))
    );
  const page = all.slice(0, pageLength);
  const last = page.at(-1);
  const isTruncated = all.length > page.length;
  const next = isTruncated && last !== undefined
    ? tag('NextKeyMarker', last.key) + tag('NextUploadIdMarker', last.id)
    : '';
  const listed = page.map(({ id, key }) =>
    tag('Upload', tag('Key', key) + tag('UploadId', id) + tag('Initiated', '2026-01-01T00:00:00.000Z'))
  );
  return tag('ListMultipartUploadsResult', tag('IsTruncated', String(isTruncated)) + next + listed.join(''));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
