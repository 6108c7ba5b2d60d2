// What PostgreSQL's errors are to those above it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unlimited } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { type OwnInstallation, ownInstallation } from '../harness/database.ts';

let own: OwnInstallation;

beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

it.each([
  ['no memory for another lock', '53200'],
  ['no more room for temporary files', '53400'],
  ['no more connections', '53300'],
])('%s: it is not available, which may pass', async (_what, code) => {
  const pool = new Pool(own.access, { cap: 1, permits: unlimited, now: Date.now });
  const raising = pool.run((sql) => sql.unsafe(`do $$ begin raise exception sqlstate '${code}'; end $$`));
  await expect(raising).rejects.toMatchObject({ failure: 'unavailable' });
  await pool.end();
});
