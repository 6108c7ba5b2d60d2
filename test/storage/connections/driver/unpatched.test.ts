// A driver whose source is not the one that the patches are for: it is used as it is, and the fallbacks keep its results right.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patched } from '../../../../storage/connections/driver/patches.ts';
import { type OwnInstallation, ownInstallation } from '../../../harness/database.ts';

let own: OwnInstallation;

beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

const folder = fileURLToPath(new URL('../../../../node_modules/postgres/src', import.meta.url));
const files = ['connection.js', 'index.js', 'query.js', 'result.js'];

/** Puts more space into the driver's source. */
const alter = `
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const isAltered = /\\/postgres\\/src\\/(${files.join('|')})$/.test(url);
      return isAltered ? { ...loaded, source: String(loaded.source).replaceAll(/ ([={]) /g, '  $1  ') } : loaded;
    },
  });
`;

const program = `
  import { Client } from '${new URL('../../../../storage/connections/client.ts', import.meta.url).href}';
  import { Outage } from '${new URL('../../../../storage/connections/outage.ts', import.meta.url).href}';
  import { unpatchedFiles } from '${
  new URL('../../../../storage/connections/driver/driver.ts', import.meta.url).href
}';
  const options = { now: 0, onLost: () => undefined, outage: new Outage() };
  const client = new Client(JSON.parse(process.env.ACCESS), options);
  const failing = () => client.sql.unsafe('select 1 / (4 - i) from generate_series(1, 10) as i').catch(({ code }) => code);
  const rows = (text) => client.sql.unsafe(text).values().then((result) => [...result, result.count, result.command]);
  const several = () => client.sql.unsafe('select 1; select 2').then((results) => results.map((one) => [...one]));
  const results = await Promise.all([
    failing(), rows('select i from generate_series(1, 2) as i'), rows('select'), failing(), several(),
  ]);
  results.push(await client.transaction((sql) => sql\`select 3 as n\`));
  await client.close(1);
  process.stdout.write(JSON.stringify({ unpatchedFiles: [...unpatchedFiles].sort(), results }));
`;

describe('a driver that the patches do not fit', () => {
  it('is used as it is, and gives each statement its own rows', () => {
    const preload = `data:text/javascript,${encodeURIComponent(alter)}`;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', preload, '--input-type=module', '--eval', program],
      { encoding: 'utf8', env: { ACCESS: JSON.stringify(own.access) } },
    );
    const several = [[{ '?column?': 1 }], [{ '?column?': 2 }]];
    const results = ['22012', [[1], [2], 2, 'SELECT'], [[], 1, 'SELECT'], '22012', several, [{ n: 3 }]];
    expect([stdout, stderr]).toEqual([JSON.stringify({ unpatchedFiles: files, results }), '']);
  });

  it('is recognized by each piece of text that a patch replaces', async () => {
    for (const file of files) {
      const source = await readFile(join(folder, file), 'utf8');
      expect(patched(file, source), file).not.toBe(source);
      expect(patched(file, source.replaceAll(/ ([={]) /g, '  $1  ')), file).toBeUndefined();
    }
    expect(patched('types.js', 'anything')).toBe('anything');
  });
});
