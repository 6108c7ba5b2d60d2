// A server that takes no further connection of a pool: the ones that the pool has go on.
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../storage/connections/pool.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
const password = randomBytes(16).toString('hex');
const opened: Pool[] = [];

beforeAll(async () => {
  own = await ownInstallation();
  const role = `login password '${password}' connection limit 1`;
  await own.as({}, (sql) => sql.unsafe(`create role ${own.access.database} ${role}`));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((pool) => pool.end()));
});
afterAll(async () => {
  await own.as({}, (sql) => sql.unsafe(`drop role ${own.access.database}`));
  await own.remove();
});

/** A pool of four connections, of which the server takes one. */
function pool(): Pool {
  const endpoint = { ...own.access, username: own.access.database, password };
  const made = new Pool(endpoint, { cap: 4, permits: unlimitedPermits, now: Date.now });
  opened.push(made);
  return made;
}

const response = (sql: Sql) => sql<{ is: number }[]>`select 42 as is, pg_sleep(0.02)`;

describe('a pool whose server takes no further connection', () => {
  it('does everything on those that it has, statements and transactions', async () => {
    const own = pool();
    await own.run(response);
    const work = Array.from(
      { length: 20 },
      (_, number) => number % 2 === 0 ? own.run(response) : own.transaction(response),
    );
    const responses = await Promise.all(work);
    expect(responses.map(([row]) => row?.is)).toEqual(work.map(() => 42));
    expect(own).toMatchObject({ size: 1, inFlight: 0 });
  });

  it('does a piece of work once, also where it fails', async () => {
    const own = pool();
    await own.run(response);
    const failed = await Promise.allSettled(Array.from({ length: 8 }, () =>
      own.transaction(async (sql) => {
        await response(sql);
        throw new RangeError('changed our mind');
      })));
    for (const { status, ...rest } of failed) {
      expect(status).toBe('rejected');
      expect(rest).toMatchObject({ reason: expect.any(RangeError) });
    }
  });

  it('says so where it has none', async () => {
    const first = pool();
    await first.run(response);
    await expect(pool().run(response)).rejects.toMatchObject({ failure: 'unavailable' });
  });
});
