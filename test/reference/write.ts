// Writes the generated pages of docs/reference: `npm run reference`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pages } from './pages.ts';

const root = join(import.meta.dirname, '../..');
for (const { path, text } of pages()) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
