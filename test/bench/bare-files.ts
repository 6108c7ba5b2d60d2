// The yardstick of downloads: a handler that does nothing but send a file. A process of its own.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

process.once('disconnect', () => process.exit());
process.once('message', async ({ path }: { path: string }) => {
  const { size } = await stat(path);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Length': size });
    createReadStream(path).pipe(response);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
