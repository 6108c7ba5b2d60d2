// A bucket whose responses, or whose listings, have no end.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { S3Blobs } from '../../../storage/blobs/s3.ts';

/** The limit of the store's silence; a response may take twelve times as long. */
const silence = 100;

let peer: Server;
let store: S3Blobs;
let status: number;
let goOn: (response: ServerResponse) => void;

beforeAll(async () => {
  peer = createServer((request, response) => {
    request.resume().on('end', () => goOn(response.writeHead(status, { 'Content-Type': 'application/xml' })));
  });
  peer.listen(0, '127.0.0.1');
  await once(peer, 'listening');
  const { port } = peer.address() as AddressInfo;
  const access = { bucket: 'blobs', region: '', access_key_id: 'anybody', secret_access_key: 'anything' };
  const endpoint = `http://127.0.0.1:${port}`;
  store = new S3Blobs({ ...access, endpoint, virtual_hosted_style_request: false }, () => undefined, silence);
});
afterAll(async () => {
  peer.closeAllConnections();
  peer.close();
  await once(peer, 'close');
});

/** As fast as it is taken. */
function flood(response: ServerResponse): void {
  const write = () => {
    while (!response.destroyed && response.write('<a></a>'.repeat(10_000))) { /* until it is full */ }
  };
  response.on('drain', write);
  write();
}

/** Never silent for long. */
function trickle(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
}

const place = { database: 'w_1', schema: 'a_1' };
const key = { ...place, id: randomUUID() };
async function* bytes() {
  yield Buffer.alloc(1_000);
}
async function listed() {
  for await (const blob of store.list(place, new Date())) return blob;
  return undefined;
}
const upload = () => store.put(key, bytes());

it.each([
  ['an upload', 200, upload],
  ['an upload', 503, upload],
  ['a listing', 200, listed],
  ['a removal', 200, () => store.remove(key)],
])('is given up while it answers %s with %i', async (_what, given, ask) => {
  status = given;
  for (goOn of [flood, trickle]) await expect(ask()).rejects.toThrow();
});

it('is unavailable when its error does not end', async () => {
  status = 500;
  for (goOn of [flood, trickle]) {
    await expect(store.open(key)).rejects.toMatchObject({ name: 'StoreUnavailable' });
  }
});

it.each([
  ['blobs', () => store.apps('w_1')],
  ['unfinished uploads', () => store.list(place, new Date())],
])('is given up when it has the same page of %s follow itself', async (_what, list) => {
  status = 200;
  const end = '<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>';
  goOn = (response) => response.end(`<Result>${end}<NextKeyMarker>x</NextKeyMarker></Result>`);
  const drained = async () => {
    for await (const item of list()) expect(item).toBeUndefined();
  };
  await expect(drained()).rejects.toThrow('does not come to an end');
});

it.each([
  [404, 'NoSuchBucket'],
  [403, 'AccessDenied'],
  [403, 'InvalidAccessKeyId'],
  [403, 'SignatureDoesNotMatch'],
  [400, 'AuthorizationHeaderMalformed'],
])('is away when it refuses with %i %s, which only its operator can mend', async (given, code) => {
  status = given;
  goOn = (response) => response.end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
  for (const ask of [() => store.open(key), upload]) {
    await expect(ask()).rejects.toMatchObject({ name: 'StoreUnavailable', cause: { name: code } });
  }
});
