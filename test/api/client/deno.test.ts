// The client in Deno.
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { serverUrl } from '../../harness/api.ts';
import { ordersApp } from './app.ts';

const root = join(import.meta.dirname, '../../..');

const program = (url: string, options: object) =>
  `import { createClient, f, NotFoundError } from ${JSON.stringify(`file://${root}/api/client/main.ts`)};
const client = createClient(${JSON.stringify(url)}, ${JSON.stringify(options)});
const orders = client.collection('orders');
const changes = [];
const seen = Promise.withResolvers();
const watching = orders.watch(f\`sku = \${'deno'}\`, {}, ({ event }) => changes.push(event) === 2 && seen.resolve());
await watching.ready;
const { id } = await orders.upsert({ sku: 'deno', title: 'Tea' }, { on: 'sku' });
await orders.update(id, { title: 'Coffee' });
await seen.promise;
watching.close();
const sent = [];
const { size } = await client.files.upload(new Blob(['x'.repeat(200_000)]), { onProgress: (bytes) => sent.push(bytes) });
const echo = await client.route('POST /echo', { body: { text: 'é' } });
const missing = await orders.get(crypto.randomUUID()).catch((error) => error instanceof NotFoundError);
console.log(JSON.stringify({ changes, size, sent: sent.at(-1), echo, missing }));`;

it('watches, writes, uploads and calls routes in Deno, and ends by itself', async () => {
  const app = await ordersApp();
  const options = { workspace: app.workspace.id, app: app.app.id, token: app.admin.token };
  const { stdout } = await execa(join(root, 'node_modules/.bin/deno'), [
    'run',
    '--no-config',
    '--allow-net',
    '-',
  ], {
    input: program(serverUrl(), options),
  });
  expect(JSON.parse(stdout)).toEqual({
    changes: ['record_created', 'record_updated'],
    size: 200_000,
    sent: 200_000,
    echo: { text: 'é' },
    missing: true,
  });
});
