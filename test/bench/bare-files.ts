// The yardstick of files: handlers that do nothing but send a file, and write a body to one. A process of its own.
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

process.once('disconnect', () => process.exit());
process.once('message', async ({ path, directory }: { path: string; directory: string }) => {
  const { size } = await stat(path);
  let stored = 0;
  const store = async (request: IncomingMessage, response: ServerResponse) => {
    // Synchronized before it is closed, as what is to last must be.
    await pipeline(request, createWriteStream(join(directory, String(stored++)), { flush: true }));
    response.writeHead(201, { 'Content-Length': 0 }).end();
  };
  const server = createServer((request, response) => {
    if (request.method === 'POST') return void store(request, response);
    response.writeHead(200, { 'Content-Length': size });
    createReadStream(path).pipe(response);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
