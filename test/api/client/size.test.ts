// How much the client adds to a page.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** The bytes that a page loads for an entry of the package, compressed. */
async function gzippedSize(entry: string): Promise<number> {
  const bundle = await rolldown({ input: join(root, entry), external: ['react'] });
  const { output: [{ code }] } = await bundle.generate({ format: 'esm', minify: true });
  return gzipSync(code, { level: 9 }).length;
}

it('the client has at most 6 kB', async () => {
  expect(await gzippedSize('api/client/main.ts')).toBeLessThan(6_000);
});
