// What a download takes for itself, and which of those that come to no good end the log hears of.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { truncate } from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Hosts } from '../../../api/http/hosts/hosts.ts';
import { download } from '../../../api/files/download.ts';
import type { LogEvent } from '../../../api/logging/events.ts';
import { LocalBlobs } from '../../../storage/blobs/local.ts';

const size = 32 * 1_048_576;
const [database, schema, id] = [`w_${'0'.repeat(20)}`, `a_${'1'.repeat(20)}`, randomUUID()];
const times = { created_at: new Date(), updated_at: new Date() };
const workspace = { id: 'acme', name: 'Acme', database, ...times };
const app = { workspace, id: 'shop', name: 'Shop', schema, collections: new Map(), ...times };
const file = { id, filename: 'f', mime: 'text/plain', size, uploaded_by: null, created_at: new Date() };
const facts: LogEvent[] = [];
let held = 0;
let root: string;
let server: Server;
let closed: Promise<unknown>;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bulkhead-blobs-'));
  const blobs = new LocalBlobs(root);
  await blobs.put({ database, schema, id }, Readable.from([Buffer.alloc(size)]));
  const hosts = new Hosts({ hosts: [], app_domain: '' });
  server = createServer((_request, response) => {
    closed = once(response, 'close');
    const body = () => expect.fail('the body was read');
    const reserveFile = () => void held++;
    const served = download({ blobs, hosts, observe: (fact) => void facts.push(fact) }, app, file);
    served.write({ response, headers: [], address: 'x', reserveFile, body }).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(root, { recursive: true });
});

async function ask(method: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const [response] = await once(request({ port, host: '127.0.0.1', method, headers }).end(), 'response');
  return response;
}

it('counts as an open file when bytes are sent, and not when there are none', async () => {
  const cases: [string, Record<string, string>, number][] = [
    ['HEAD', {}, 0],
    ['GET', { 'If-None-Match': '*' }, 0],
    ['GET', { Range: 'bytes=0-9' }, 1],
  ];
  for (const [method, headers, files] of cases) {
    held = 0;
    (await ask(method, headers)).resume();
    await closed;
    expect([method, held]).toEqual([method, files]);
  }
});

it('is nothing that the log hears of when the client leaves, and something when bytes are missing', async () => {
  (await ask('GET')).destroy();
  await closed;
  await truncate(join(root, database, schema, id), 1_000);
  await once((await ask('GET')).resume(), 'error');
  await expect.poll(() => facts).toEqual([{
    type: 'background_failed',
    task: 'send a file',
    error: `Error: the stored bytes are ${size - 1_000} fewer than the file has`,
  }]);
});
