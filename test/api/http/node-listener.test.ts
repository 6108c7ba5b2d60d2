// Responses that cannot be sent: the connection closes, and whoever runs the server learns why.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { H3 } from 'h3';
import { expect, it } from 'vitest';
import { nodeListener, PreparedResponse } from '../../../api/http/node-listener.ts';

it('a response that HTTP cannot carry is reported, and its connection is closed', async () => {
  const app = new H3().get(
    '/',
    () => new PreparedResponse({ status: 200, headers: [['x-name', 'a\nb']], body: 'x' }),
  );
  const failures: string[] = [];
  const http = createServer(
    nodeListener(app, { onFailure: (request, error) => failures.push(`${request.url} ${String(error)}`) }),
  ).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  expect(failures).toEqual([expect.stringContaining('x-name')]);
  http.close();
});
