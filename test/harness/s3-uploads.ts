// The part of the S3 API that `s3rver` lacks, of one bucket, without signatures, written after the API's reference: listing
// and aborting multipart uploads (https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html), and what
// the removal of many objects has to come with (https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html).
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A store with uploads that have begun. */
export interface UploadStore {
  endpoint: string;
  bucket: string;
  /** Unfinished uploads: key by upload id. */
  uploads: Map<string, string>;
  /** Keys of objects, and of those that it does not let go of. */
  objects: Set<string>;
  kept: Set<string>;
  /** Of the parts that were sent, together. */
  lengths: Map<string, number>;
  /** What was asked, as method and path with query. */
  asked: string[];
  /** What is answered to whoever lists uploads, in place of the truth. */
  listing: Said | undefined;
  /** Called before a part is taken; the status that it is answered, if it is to fail for no fault of its own. */
  onPart: () => number | void;
  /** Called once an upload is complete; the status that it is answered, if that is not to be heard of. */
  onComplete: () => number | void;
  /** Whether listings are of what was asked for; else they are of everything. */
  heedsPrefix: boolean;
  /** Adds unfinished uploads of a key. */
  begin(key: string): string;
  stop(): Promise<void>;
}

/** Starts one on a free port. A page of its listings has two uploads, or two objects. */
export async function startUploadStore(): Promise<UploadStore> {
  const bucket = 'blobs';
  const server = createServer((request, response) => void handle(store, request, response));
  const store: UploadStore = {
    endpoint: '',
    bucket,
    uploads: new Map(),
    objects: new Set(),
    kept: new Set(),
    lengths: new Map(),
    asked: [],
    listing: undefined,
    onPart: () => undefined,
    onComplete: () => undefined,
    heedsPrefix: true,
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
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const asked = {
    method,
    query,
    key: decodeURIComponent(pathname).slice(store.bucket.length + 2),
    body: Buffer.concat(chunks),
    md5: request.headers['content-md5'],
  };
  const { status, xml = '', headers = {} } = asked.key === ''
    ? ofBucket(store, asked)
    : ofObject(store, asked);
  response.writeHead(status, { 'content-type': 'application/xml', ...headers });
  response.end(xml === '' ? '' : `<?xml version="1.0" encoding="UTF-8"?>${xml}`);
}

interface Asked {
  method: string;
  query: URLSearchParams;
  key: string;
  body: Buffer;
  md5: string | string[] | undefined;
}

/** A response. */
export interface Said {
  status: number;
  xml?: string;
  headers?: Record<string, string>;
}

function ofBucket(store: UploadStore, { query, body, md5 }: Asked): Said {
  const { objects, kept, listing } = store;
  if (query.has('uploads')) return listing ?? { status: 200, xml: listOf(store, query) };
  if (!query.has('delete')) return { status: 200, xml: objectsOf(store, query) };
  if (md5 !== createHash('md5').update(body).digest('base64')) {
    return { status: 400, xml: refusal('InvalidRequest') };
  }
  const names = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name = '']) => name);
  const left = names.filter((name) => kept.has(name) || !objects.delete(name));
  return {
    status: 200,
    xml: tag('DeleteResult', left.map((name) => refusal('AccessDenied', name)).join('')),
  };
}

function ofObject(store: UploadStore, { method, query, key, body }: Asked): Said {
  const id = query.get('uploadId') ?? '';
  if (method === 'HEAD') {
    const length = store.lengths.get(key);
    return store.objects.has(key)
      ? { status: 200, headers: { 'content-length': String(length) } }
      : { status: 404 };
  }
  if (method === 'POST' && query.has('uploads')) {
    return { status: 200, xml: tag('InitiateMultipartUploadResult', tag('UploadId', store.begin(key))) };
  }
  const failure = method === 'PUT' ? store.onPart() : undefined;
  if (typeof failure === 'number') return { status: failure, xml: refusal('AccessDenied') };
  if (store.uploads.get(id) !== key) return { status: 404, xml: refusal('NoSuchUpload') };
  if (method === 'PUT') {
    store.lengths.set(key, (store.lengths.get(key) ?? 0) + body.length);
    return { status: 200, headers: { etag: '"part"' } };
  }
  store.uploads.delete(id);
  if (method === 'DELETE') return { status: 204 };
  store.objects.add(key);
  const status = store.onComplete();
  return typeof status === 'number'
    ? { status, xml: refusal('InternalError') }
    : { status: 200, xml: tag('CompleteMultipartUploadResult', tag('ETag', 'whole')) };
}

function refusal(code: string, key?: string): string {
  const about = key === undefined ? '' : tag('Key', key);
  return tag('Error', about + tag('Code', code) + tag('Message', 'the store refuses'));
}

/** In the order of keys and then of ids, from behind the markers. */
function listOf({ uploads, heedsPrefix }: UploadStore, query: URLSearchParams): string {
  const [prefix, afterKey, afterId] = ['prefix', 'key-marker', 'upload-id-marker'].map((name) =>
    query.get(name) ?? ''
  );
  const all = [...uploads].map(([id, key]) => ({ id, key }))
    .filter(({ key }) => !heedsPrefix || key.startsWith(prefix ?? ''))
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

/** In the order of keys, from behind the one that the token is. */
function objectsOf({ objects, heedsPrefix }: UploadStore, query: URLSearchParams): string {
  const [prefix = '', after = ''] = ['prefix', 'continuation-token'].map((name) => query.get(name) ?? '');
  const all = [...objects].filter((key) => (!heedsPrefix || key.startsWith(prefix)) && key > after).sort();
  const page = all.slice(0, pageLength);
  const listed = page.map((key) =>
    tag('Contents', tag('Key', key) + tag('LastModified', '2026-01-01T00:00:00.000Z'))
  );
  const isTruncated = all.length > page.length;
  const next = isTruncated ? tag('NextContinuationToken', page.at(-1) ?? '') : '';
  return tag('ListBucketResult', tag('IsTruncated', String(isTruncated)) + next + listed.join(''));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
