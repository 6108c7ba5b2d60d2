// What PostgreSQL's errors are to those above it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PermitCount, unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { exceededLimit, mayBeDone, mayBeDropped, NoPermit, StorageError } from '../../storage/errors.ts';
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
  const pool = new Pool(own.access, { cap: 1, permits: unlimitedPermits, now: Date.now });
  const raising = pool.run((sql) => sql.unsafe(`do $$ begin raise exception sqlstate '${code}'; end $$`));
  await expect(raising).rejects.toMatchObject({ failure: 'unavailable' });
  await pool.end();
});

it('says whether the work may have been done all the same', async () => {
  const none = new PermitCount({ count: 0, timeoutMs: 10 });
  const [pool, busy] = [unlimitedPermits, none].map((permits) =>
    new Pool(own.access, { cap: 1, permits, now: Date.now })
  );
  const failureOf = (text: string, asked = pool) =>
    asked?.run((sql) => sql.unsafe(text)).catch((error: unknown) => error);
  expect(mayBeDone(await failureOf(`do $$ begin raise exception sqlstate '53300'; end $$`))).toBe(false);
  expect(mayBeDone(await failureOf('select 1 / 0'))).toBe(false);
  expect(mayBeDone(await failureOf('select pg_terminate_backend(pg_backend_pid())'))).toBe(true);
  expect(mayBeDone(await failureOf('select', busy))).toBe(false);
  await pool?.end();
});

it('says which limit of its workspace a statement has exceeded', async () => {
  const none = new PermitCount({ count: 0, timeoutMs: 10 });
  const [pool, busy] = [unlimitedPermits, none].map((permits) =>
    new Pool(own.access, { cap: 1, permits, now: Date.now })
  );
  const limitOf = async (text: string, asked = pool) =>
    exceededLimit(await asked?.run((sql) => sql.unsafe(text)).catch((error: unknown) => error));
  expect(await limitOf('select', busy)).toBe('database connections');
  expect(await limitOf(`set statement_timeout = '10ms'; select pg_sleep(60)`)).toBe(
    'database.statement_timeout_ms',
  );
  expect(await limitOf('reset statement_timeout; select pg_cancel_backend(pg_backend_pid())'))
    .toBeUndefined();
  expect(await limitOf('select 1 / 0')).toBeUndefined();
  await pool?.end();
});

it.each([
  ['a table that is gone', '42P01', true],
  ['a role that is gone', '42704', true],
  ['a reference to what is gone', '23503', true],
  ['a connection that was ended', '57P01', true],
  ['a value that is taken', '23505', false],
  ['a statement that took too long', '57014', false],
])('says whether %s may be of a tenant who is deleted', async (_what, code, isOfDropped) => {
  const pool = new Pool(own.access, { cap: 1, permits: unlimitedPermits, now: Date.now });
  const raising = pool.run((sql) => sql.unsafe(`do $$ begin raise exception sqlstate '${code}'; end $$`));
  expect(mayBeDropped(await raising.catch((error: unknown) => error))).toBe(isOfDropped);
  await pool.end();
});

it('takes a timeout for no deletion', () => {
  const silent = new StorageError('unavailable', 'no response', {
    cause: Object.assign(new Error(), { code: 'CONNECT_TIMEOUT' }),
  });
  expect([silent, new NoPermit(), new Error('anything else')].map(mayBeDropped)).toEqual([
    false,
    false,
    false,
  ]);
});
