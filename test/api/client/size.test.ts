// How much the client adds to a page.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** The bytes that a page loads for an entry of the package, compressed: without what is loaded when it is used. */
async function gzippedSize(entry: string): Promise<number> {
  const bundle = await rolldown({ input: join(root, entry), external: ['react'] });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  const chunks = new Map(output.flatMap((chunk) => chunk.type === 'chunk' ? [[chunk.fileName, chunk]] : []));
  const loaded = new Set([output[0]]);
  for (const chunk of loaded) {
    for (const name of chunk.imports) {
      const imported = chunks.get(name);
      if (imported !== undefined) loaded.add(imported);
    }
  }
  return gzipSync([...loaded].map(({ code }) => code).join('\n'), { level: 9 }).length;
}

it('the client has at most 6 kB', async () => {
  expect(await gzippedSize('api/client/main.ts')).toBeLessThan(6_000);
});
