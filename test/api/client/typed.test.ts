// What the client's types are worth: an app that does not compile when the collections have changed.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const tsc = join(root, 'node_modules/.bin/tsc');
let folder: string;

const page = `import { createClient, f } from 'bulkhead/client';
import type { Types } from './types.ts';

const client = createClient<Types>('', { workspace: 'acme', app: 'shop' });
const orders = client.collection('orders');
await orders.create({ title: 'Tea', total: 1 });
const { items } = await orders.list({ filter: f\`total > \${1}\`, fields: ['title'], expand: ['customer.orders_via_customer'] });
for (const { fields, expand } of items) {
  const title: string | null = fields.title;
  const others: (string | null)[] = expand.customer?.expand.orders_via_customer.map((order) => order.fields.title) ?? [];
  console.log(title, others);
}
await orders.update('id', { 'total+': 1 });
const [made] = await client.batch((to) => [to('customers').create({ name: 'Ada' })]);
const name: string | null = made.fields.name;
console.log(name);
const loose = createClient('', { workspace: 'acme', app: 'shop' });
console.log((await loose.collection('anything').get('id', { expand: ['whatever'] })).fields.value);
`;

/** The lines of the page that do not compile. */
async function wrongLines(types: string): Promise<number[]> {
  await writeFile(join(folder, 'types.ts'), types);
  const { stdout } = await execa(tsc, ['-p', folder, '--pretty', 'false'], { cwd: folder, reject: false });
  expect(stdout.replaceAll(/^page\.ts.*\n?/gm, '').replaceAll(/^ .*\n?/gm, '')).toBe('');
  return [...stdout.matchAll(/^page\.ts\((\d+),/gm)].map(([, line]) => Number(line));
}

/** The package as it is installed, as far as types go, without Node's. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bulkhead-typed-'));
  const installed = join(folder, 'node_modules/bulkhead');
  await mkdir(installed, { recursive: true });
  await cp(join(root, 'package.json'), join(installed, 'package.json'));
  await execa(tsc, ['-p', join(root, 'tsconfig.client.json'), '--outDir', join(installed, 'dist')], {
    cwd: folder,
  });
  await writeFile(join(folder, 'page.ts'), page);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const compilerOptions = {
    ...{
      strict: true,
      noEmit: true,
      types: [],
      lib: ['esnext', 'dom'],
      target: 'esnext',
      module: 'preserve',
    },
    ...{ exactOptionalPropertyTypes: true, allowImportingTsExtensions: true },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['page.ts'] }));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

it('a page compiles, and no longer where it uses a field that was renamed', async () => {
  const types = await readFile(join(import.meta.dirname, 'types.ts'), 'utf8');
  expect(await wrongLines(types)).toEqual([]);
  expect(await wrongLines(types.replaceAll(/\btitle(?=\??:)/g, 'name'))).toEqual([6, 7, 9, 10]);
  expect(await wrongLines(types.replaceAll('customer: { to:', 'buyer: { to:'))).toEqual([7, 10, 10]);
  expect(await wrongLines(types.replaceAll("'total+'", "'sum+'"))).toEqual([13]);
});

it('the examples of the reference compile', async () => {
  const text = await readFile(join(root, 'docs/reference/client.md'), 'utf8');
  const [first = '', ...others] = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
  expect(others.length).toBeGreaterThan(4);
  const given = `import { type Client, f, type LooseTypes } from 'bulkhead/client';
declare const client: Client<LooseTypes>;
declare const email: string, password: string, code: string, words: string, cart: string, product: string, id: string;
declare const file: File;
`;
  await writeFile(
    join(folder, 'bulkhead.types.ts'),
    await readFile(join(import.meta.dirname, 'types.ts'), 'utf8'),
  );
  await writeFile(join(folder, 'first.ts'), first);
  await writeFile(join(folder, 'others.ts'), given + others.map((code) => `{\n${code}}\n`).join(''));
  const options = JSON.parse(await readFile(join(folder, 'tsconfig.json'), 'utf8'));
  await writeFile(
    join(folder, 'examples.json'),
    JSON.stringify({ ...options, files: ['first.ts', 'others.ts'] }),
  );
  const { stdout } = await execa(tsc, ['-p', 'examples.json', '--pretty', 'false'], {
    cwd: folder,
    reject: false,
  });
  expect(stdout).toBe('');
});
