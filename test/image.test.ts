// What a container image is built from.
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const read = (file: string) => readFile(new URL(`../${file}`, import.meta.url), 'utf8');

it('is what the Dockerfile copies: no builder is sent a data directory, or its keys', async () => {
  const copied = (await read('ops/Dockerfile')).matchAll(/^COPY (.+) \S+$/gm).flatMap(([, sources = '']) =>
    sources.split(' ')
  );
  const patterns = (await read('.dockerignore')).split('\n').filter((line) => !/^(#|$)/.test(line));
  expect(patterns[0]).toBe('*');
  expect(patterns.slice(1).toSorted()).toEqual([...copied].map((source) => `!${source}`).toSorted());
});
